#!/bin/sh
# An OpenAPI document becomes a k6 script with one request for each operation.
#
#   examples/imports/openapi.sh
set -eu
brunt import "$(dirname "$0")/openapi.yaml" -output=api.js
brunt run -u 1 -i 2 -e SERVER_URL="${BASE:-http://127.0.0.1:8090}" api.js
