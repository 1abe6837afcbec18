#!/bin/sh
# A browser's recording becomes a k6 script: the token of the log-in form is taken from the page, not from the recording.
#
#   examples/imports/har.sh
set -eu
brunt import "$(dirname "$0")/login.har" -output=login.js
brunt run -u 1 -i 2 -e BASE_URL="${BASE:-http://127.0.0.1:8090}" login.js
