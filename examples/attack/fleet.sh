#!/bin/sh
# A fleet: two agents of this machine send one load. It needs nats-server (apt-get install -y nats-server).
#
#   examples/attack/fleet.sh
set -eu
brunt fleet up -dir fleet -listen "127.0.0.1:${PORT:-4222}" > fleet.log 2>&1 & fleet=$!
trap 'kill $fleet $agents 2> /dev/null' EXIT
agents=
until [ -s fleet/token ]; do sleep 0.2; done
for name in a b; do
  brunt agent -join fleet/token -name "$name" > "agent-$name.log" 2>&1 & agents="$agents $!"
done
brunt attack -rate=200 -duration="${LENGTH:-10s}" -fleet=fleet -agents=2 -output=fleet.arrow "${BASE:-http://127.0.0.1:8080}/"
brunt report fleet.arrow
