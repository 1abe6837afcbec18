// A breakpoint: the rate rises until a threshold breaks, and the run ends there. For a limit with an interval use brunt seek.
//
//   brunt run examples/scripts/breakpoint.js
import http from 'k6/http';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    rise: {
      executor: 'ramping-arrival-rate',
      startRate: 10,
      preAllocatedVUs: 50,
      maxVUs: 500,
      stages: [{ target: 1000, duration: __ENV.LENGTH || '10m' }],
    },
  },
  thresholds: {
    // Each names its reason: a slow server, a failing server, too few users for the rate.
    http_req_duration: [{ threshold: 'p(95)<500', abortOnFail: true, delayAbortEval: '5s' }],
    http_req_failed: [{ threshold: 'rate<0.01', abortOnFail: true, delayAbortEval: '5s' }],
  },
};

export default function () {
  http.get(`${base}/`);
}
