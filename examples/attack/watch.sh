#!/bin/sh
# The server's side of a run: cores and memory of the processes behind a port of this machine, in the same report.
#
#   examples/attack/watch.sh
set -eu
base="${BASE:-http://127.0.0.1:8080}"
brunt attack -rate=50 -duration="${LENGTH:-30s}" -watch -watch-port="${base##*:}" -output=watched.arrow "$base/"
brunt report watched.arrow
brunt report -output=watched.html watched.arrow
