#!/bin/sh
# Runs that are kept with their commit and machine, in the folder .brunt/runs: the list, one run, and brunt ui for the browser.
#
#   examples/attack/store.sh
set -eu
for run in 1 2 3; do
  brunt attack -rate=50 -duration="${LENGTH:-10s}" -save=home "${BASE:-http://127.0.0.1:8080}/"
done
brunt runs list
brunt runs show home
