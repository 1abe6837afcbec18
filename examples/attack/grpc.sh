#!/bin/sh
# gRPC: one method at a rate. The definitions come from a .proto file; a server with reflection needs none.
#
#   HOST=127.0.0.1:50051 examples/attack/grpc.sh
set -eu
brunt grpc "${HOST:-127.0.0.1:50051}" -plaintext -proto "$(dirname "$0")/../data/shop.proto" -call shop.v1.Shop/Buy \
  -data '{"item": "tea", "count": 2}' -rate=50 -duration="${LENGTH:-10s}" -output=grpc.arrow
brunt report grpc.arrow
