// gRPC: a call with a message, its status, and its answer. Each user connects once.
//
//   brunt run -e HOST=127.0.0.1:50051 examples/scripts/grpc.js
import { check } from 'k6';
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load(['../data'], 'shop.proto');

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'], grpc_req_duration: ['p(95)<300'] } };

export default function () {
  if (__ITER === 0) {
    client.connect(__ENV.HOST || '127.0.0.1:50051', { plaintext: true });
  }
  const receipt = client.invoke('shop.v1.Shop/Buy', { item: 'tea', count: 2 });
  check(receipt, { 'is OK': (answer) => answer.status === grpc.StatusOK });
}
