#!/bin/sh
# Is the new version slower? Runs of both take turns, and the comparison says better, worse, the same, or cannot tell.
#
#   OLD=http://127.0.0.1:8080/ NEW=http://127.0.0.1:8081/ examples/attack/versions.sh
set -eu
mkdir -p old new
for run in 1 2 3 4 5; do
  brunt attack -rate=50 -duration="${LENGTH:-20s}" -output="old/$run.arrow" "${OLD:-http://127.0.0.1:8080/}"
  brunt attack -rate=50 -duration="${LENGTH:-20s}" -output="new/$run.arrow" "${NEW:-http://127.0.0.1:8080/}"
done
brunt compare -output=versions.html old new
brunt compare old new
