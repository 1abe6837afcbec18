// Think times: pauses drawn from a distribution, so that users do not march in step.
//
//   brunt run examples/scripts/think.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = { vus: 10, duration: '30s', thresholds: { checks: ['rate>0.99'] } };

// Exponential, as the pauses of independent users are; cut off, so that no user falls asleep.
function think(mean) {
  sleep(Math.min(-Math.log(1 - Math.random()) * mean, 5 * mean));
}

export default function () {
  for (const page of ['/', '/products', '/products/1']) {
    check(http.get(base + page), { 'is there': (answer) => answer.status === 200 });
    think(0.3);
  }
}
