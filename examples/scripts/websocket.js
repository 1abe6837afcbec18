// A WebSocket: each user sends a message, waits for its echo, and measures the round trip.
//
//   brunt run examples/scripts/websocket.js
import { check } from 'k6';
import { Trend } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';

const url = (__ENV.BASE || 'http://127.0.0.1:8080').replace('http', 'ws') + '/ws-echo';
const roundTrip = new Trend('round_trip', true);

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'], round_trip: ['p(95)<500'] } };

export default function () {
  const socket = new WebSocket(url);
  let begin = 0;
  socket.onopen = () => {
    begin = Date.now();
    socket.send('hello');
  };
  socket.onmessage = (message) => {
    roundTrip.add(Date.now() - begin);
    check(message, { 'is the echo': (one) => one.data === 'hello' });
    socket.close();
  };
}
