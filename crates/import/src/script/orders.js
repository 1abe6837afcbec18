// Written by `brunt import` from orders.sh (curl).
import http from 'k6/http';
import { check, group } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'https://shop.example';
const TOKEN = __ENV.TOKEN || '';

export const options = {
  // vus: 10,
  // duration: '5m',
  // thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'], checks: ['rate>0.99'] },
};

// What answers gave for later requests of the same iteration.
let found = {};

export default function () {
  found = {};
  group('Orders', orders);
}

function orders() {
  let res;
  res = http.post(`${BASE_URL}/orders?x=1`, '{"n":1}', { headers: { 'Content-Type': 'application/json' } });
  try { found.orderId = res.json('id'); } catch (e) { found.orderId = undefined; } // goes into the address of the next
  check(res, {
    'POST /orders is 201': (r) => r.status === 201,
    'POST /orders has order id': () => found.orderId !== undefined,
  });

  res = http.get(`${BASE_URL}/orders/${found.orderId}`, {
    headers: { Authorization: `Bearer ${TOKEN}` },
    redirects: 0,
    tags: { name: 'GET /orders/{}' },
  });
  check(res, { 'GET /orders/{} succeeds': (r) => r.status > 0 && r.status < 400 });
}
