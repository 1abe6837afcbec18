#!/bin/sh
# A closed loop: 16 users, each sends its next request when the last one was answered.
#
#   examples/attack/users.sh
set -eu
brunt bench -c 16 -d "${LENGTH:-10s}" -output=users.arrow "${BASE:-http://127.0.0.1:8080}/"
