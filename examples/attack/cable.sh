#!/bin/sh
# Action Cable without a script: round trips, deliveries to every subscriber, and reconnects of all at once.
#
#   examples/attack/cable.sh
set -eu
url="ws://${HOST:-127.0.0.1:8080}/cable"
length="${LENGTH:-20s}"
brunt cable echo "$url" -channel ChatChannel -params '{"id":"echo"}' -users 20 -duration "$length"
brunt cable broadcast "$url" -channel ChatChannel -params '{"id":"demo"}' -users 50 -rate 5 -duration "$length"
brunt cable herd "$url" -channel ChatChannel -params '{"id":"herd"}' -users 50 -cuts 2 -duration "$length"
