// A chat over Action Cable: each user subscribes, says something, and waits for its own message to come back.
//
//   brunt serve --listen 127.0.0.1:8080 --cable
//   brunt run examples/scripts/chat.js
import cable from 'k6/x/cable';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const url = __ENV.CABLE || 'ws://127.0.0.1:8080/cable';
const roundTrip = new Trend('chat_round_trip', true);

export const options = {
  vus: 20,
  duration: '20s',
  thresholds: { chat_round_trip: ['p(95)<200'], checks: ['rate>0.99'] },
};

export default function () {
  const client = cable.connect(url, { cookies: `uid=User${__VU}/${__VU}`, receiveTimeoutMs: 5000 });
  if (!check(client, { 'is connected': (one) => one !== null })) {
    return;
  }
  const chat = client.subscribe('ChatChannel', { id: 'demo' });
  for (let said = 0; said < 5; said += 1) {
    const text = `${__VU}-${__ITER}-${said}`;
    const begin = Date.now();
    chat.perform('speak', { message: text });
    const answer = chat.receive((message) => JSON.stringify(message).includes(text));
    check(answer, { 'came back': (message) => message !== null });
    roundTrip.add(Date.now() - begin);
  }
  client.disconnect();
}
