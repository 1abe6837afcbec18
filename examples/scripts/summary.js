// A summary of your own: one line for a chat, and all figures as JSON in a file.
//
//   brunt run examples/scripts/summary.js
import http from 'k6/http';

const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = { vus: 5, duration: '10s' };

export default function () {
  http.get(`${base}/`);
}

export function handleSummary(data) {
  const { http_reqs: requests, http_req_duration: took } = data.metrics;
  const line = `${requests.values.count} requests, 95 of 100 within ${took.values['p(95)'].toFixed(1)} ms\n`;
  return { stdout: line, 'summary.json': JSON.stringify(data, null, 2) };
}
