// Server-sent events: the stream is read to its end, and its events are counted. For a stream without an end set a timeout.
//
//   brunt run examples/scripts/sse.js
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const events = new Counter('events_received');

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'], events_received: ['count>0'] } };

export default function () {
  const stream = http.get(`${base}/events`, { headers: { Accept: 'text/event-stream' }, timeout: '10s' });
  const prices = stream.body.split('\n').filter((line) => line.startsWith('data: '));
  events.add(prices.length);
  check(stream, {
    'is a stream': (one) => one.headers['Content-Type'] === 'text/event-stream',
    'is complete': () => prices.length === 5,
  });
}
