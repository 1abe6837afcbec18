// A visit to two pages, with a think time between them, checks, and thresholds that decide the exit code.
//
//   brunt run examples/scripts/pages.js
//   brunt run -e BASE=https://staging.example.com examples/scripts/pages.js
import http from 'k6/http';
import { check, group, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{name:home}': ['p(95)<300'],
    checks: ['rate>0.99'],
  },
};

export default function () {
  group('read', () => {
    const home = http.get(`${base}/`, { tags: { name: 'home' } });
    check(home, { 'home is there': (response) => response.status === 200 });
  });
  sleep(0.5 + Math.random());
  group('search', () => {
    const body = JSON.stringify({ query: 'load testing' });
    const headers = { 'Content-Type': 'application/json' };
    const found = http.post(`${base}/search`, body, { headers, tags: { name: 'search' } });
    check(found, { 'search answers': (response) => response.status < 400 });
  });
}
