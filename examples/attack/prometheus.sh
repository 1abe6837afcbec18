#!/bin/sh
# Samples for Prometheus (--web.enable-remote-write-receiver) under k6's names, while the run goes on; grafana/ has dashboards.
#
#   examples/attack/prometheus.sh
set -eu
brunt bench -c 4 -d "${LENGTH:-30s}" -o experimental-prometheus-rw="${PROMETHEUS:-http://127.0.0.1:9090}/api/v1/write" \
  "${BASE:-http://127.0.0.1:8080}/"
