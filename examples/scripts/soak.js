// A soak: an ordinary load for hours, which shows leaks and full disks. Watch the server's memory beside it (brunt watch).
//
//   brunt run examples/scripts/soak.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  stages: [
    { target: 20, duration: '2m' },
    { target: 20, duration: '4h' },
    { target: 0, duration: '1m' },
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
