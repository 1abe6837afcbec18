#!/bin/sh
# Yesterday's access log as a load: its pages with their weights, and its rate of each minute.
#
#   examples/imports/log.sh
set -eu
brunt import "$(dirname "$0")/access.log" -base-url="${BASE:-http://127.0.0.1:8080}" -output=yesterday.txt
# One minute of it; -shape=replay:yesterday.rate,3x sends three times as much.
brunt attack -targets=yesterday.txt -shape=replay:yesterday.rate ${LENGTH:+-duration="$LENGTH"} -output=replay.arrow
brunt report -by=target replay.arrow
