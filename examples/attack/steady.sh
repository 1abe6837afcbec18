#!/bin/sh
# A steady rate against one page, and the report.
#
#   examples/attack/steady.sh
set -eu
brunt attack -rate=50 -duration="${LENGTH:-10s}" -output=steady.arrow "${BASE:-http://127.0.0.1:8080}/"
brunt report steady.arrow
