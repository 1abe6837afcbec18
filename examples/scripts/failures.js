// Failures as planned: a page that must not exist, and a service that may be down, are no failed requests.
//
//   brunt run examples/scripts/failures.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = { vus: 2, duration: '10s', thresholds: { http_req_failed: ['rate==0'], checks: ['rate==1'] } };

export default function () {
  const gone = http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(404) });
  check(gone, { 'is not there': (answer) => answer.status === 404 });
  const busy = http.get(`${base}/status/503`, { responseCallback: http.expectedStatuses({ min: 200, max: 399 }, 503) });
  check(busy, { 'is answered': (answer) => answer.status === 503 });
}
