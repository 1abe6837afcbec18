#!/bin/sh
# The highest rate that meets an objective, with an interval. Without -budget it takes as long as it needs.
#
#   examples/attack/limit.sh
set -eu
brunt seek -objective='p95<300ms, errors<1%' -budget="${LENGTH:-2m}" -plot=limit.html "${BASE:-http://127.0.0.1:8080}/"
