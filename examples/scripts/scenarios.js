// Two kinds of users at once: many who read, at a rate, and a few who buy, in a closed loop; each has its own limit.
//
//   brunt run examples/scripts/scenarios.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const duration = __ENV.LENGTH || '20s';

export const options = {
  scenarios: {
    readers: { executor: 'constant-arrival-rate', rate: 20, duration, preAllocatedVUs: 20, exec: 'read' },
    buyers: { executor: 'constant-vus', vus: 2, duration, exec: 'buy' },
  },
  thresholds: {
    'http_req_duration{scenario:readers}': ['p(95)<300'],
    'http_req_duration{scenario:buyers}': ['p(95)<800'],
    checks: ['rate>0.99'],
  },
};

export function read() {
  check(http.get(`${base}/`), { 'is the shop': (page) => page.html().find('h1').text() === 'Shop' });
}

export function buy() {
  const product = http.get(`${base}/products/2`, { tags: { name: '/products/ID' } });
  const shop = product.submitForm();
  check(shop, { 'is in the cart': (page) => Number(page.html().find('#cart').text()) > 0 });
  sleep(0.5);
}
