// A ramp: users come one after the other, stay, and go.
//
//   brunt run examples/scripts/ramp.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  stages: [
    { target: 20, duration: '30s' },
    { target: 20, duration: '1m' },
    { target: 0, duration: '10s' },
  ],
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
};

export default function () {
  check(http.get(`${base}/`), { 'is there': (page) => page.status === 200 });
  sleep(1);
}
