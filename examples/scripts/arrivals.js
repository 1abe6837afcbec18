// An open loop: visits start at a rate that rises, however slow the server is. Visits that cannot start for want of users
// are counted in dropped_iterations.
//
//   brunt run examples/scripts/arrivals.js
import http from 'k6/http';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    visits: {
      executor: 'ramping-arrival-rate',
      startRate: 10,
      timeUnit: '1s',
      preAllocatedVUs: 20,
      maxVUs: 200,
      stages: [
        { target: 50, duration: '30s' },
        { target: 50, duration: '1m' },
        { target: 0, duration: '10s' },
      ],
    },
  },
  thresholds: { dropped_iterations: ['count==0'] },
};

export default function () {
  http.get(`${base}/`);
}
