#!/bin/sh
# Limits for a build: the exit code is 7 if one is crossed; JUnit, Markdown and a page say which.
#
#   examples/attack/gates.sh
set -eu
code=0
brunt attack -rate=50 -duration="${LENGTH:-30s}" -output=gates.arrow -fail-on='p99>500ms, errors>0.1%' "${BASE:-http://127.0.0.1:8080}/" || code=$?
brunt report -output=gates.xml gates.arrow
brunt report -output=gates.md gates.arrow
brunt report -output=gates.html gates.arrow
exit "$code"
