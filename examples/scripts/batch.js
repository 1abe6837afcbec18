// A page with its parts: they are fetched at the same time, as a browser does.
//
//   brunt run examples/scripts/batch.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = { vus: 5, duration: '10s', batchPerHost: 6, thresholds: { checks: ['rate>0.99'] } };

export default function () {
  http.get(`${base}/`);
  const parts = http.batch([
    ['GET', `${base}/app.css`],
    ['GET', `${base}/app.js`],
    { method: 'GET', url: `${base}/bytes/4096`, params: { tags: { name: 'picture' } } },
  ]);
  check(parts, { 'are all there': (answers) => answers.every((answer) => answer.status === 200) });
}
