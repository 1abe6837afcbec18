import http from 'k6/http';
import { check, group } from 'k6';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    readers: { executor: 'constant-vus', vus: 10, duration: '30s', exec: 'read' },
    writers: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '30s',
      preAllocatedVUs: 10,
      maxVUs: 50,
      exec: 'write',
    },
  },
  thresholds: {
    'http_req_duration{scenario:readers}': ['p(95)<300'],
    'http_req_duration{scenario:writers}': ['p(95)<800'],
    checks: ['rate>0.99'],
  },
};

export function read() {
  group('front page', () => {
    check(http.get(`${BASE}/`), { 'front page is 200': (r) => r.status === 200 });
  });
}

export function write() {
  const body = JSON.stringify({ at: Date.now() });
  const params = { headers: { 'Content-Type': 'application/json' }, tags: { name: 'items' } };
  check(http.post(`${BASE}/items`, body, params), { 'item is created': (r) => r.status < 300 });
}
