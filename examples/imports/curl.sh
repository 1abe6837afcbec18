#!/bin/sh
# Lines of curl become a k6 script, and the script a load.
#
#   examples/imports/curl.sh
set -eu
brunt import "$(dirname "$0")/requests.sh" -output=requests.js
brunt run -u 2 -d "${LENGTH:-10s}" -e BASE_URL="${BASE:-http://127.0.0.1:8090}" requests.js
