#!/bin/sh
# A page behind a log-in, without a script: curl logs in with the form's CSRF token, and the attack takes its cookies.
#
#   examples/attack/session.sh
set -eu
base="${BASE:-http://127.0.0.1:8090}"
token=$(curl -fs -c jar.txt "$base/login" | sed -n 's/.*name="authenticity_token" value="\([^"]*\)".*/\1/p')
curl -fs -o account.html -b jar.txt -c jar.txt -d name=kay -d password=secret --data-urlencode "authenticity_token=$token" "$base/login"
# No redirect is followed: a session that is not logged in would be sent to the log-in page, and is counted as a 302.
brunt attack -redirects=-1 -cookies=jar.txt -rate=20 -duration="${LENGTH:-10s}" -output=session.arrow -fail-on='status.302>0' "$base/account"
brunt report session.arrow
