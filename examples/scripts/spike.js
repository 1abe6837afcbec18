// A spike: ten times the users within seconds, and a time after it, which shows whether the server recovers.
//
//   brunt run examples/scripts/spike.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  stages: [
    { target: 5, duration: '30s' },
    { target: 50, duration: '5s' },
    { target: 50, duration: '30s' },
    { target: 5, duration: '5s' },
    { target: 5, duration: '1m' },
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
