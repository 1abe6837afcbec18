#!/bin/sh
# The commands of other tools, unchanged: Vegeta, ab, wrk, hey.
#
#   examples/attack/vegeta.sh
set -eu
url="${BASE:-http://127.0.0.1:8080}/"
echo "GET $url" | brunt vegeta attack -rate=50 -duration="${LENGTH:-5s}" | brunt vegeta report
brunt ab -c 4 -n 200 "$url"
brunt wrk -t1 -c8 -d"${LENGTH:-5s}" --latency "$url"
brunt hey -c 4 -n 200 "$url"
