// A JSON API: a record is made, read and removed, each answer is checked, and the numbered addresses have one name.
//
//   brunt run examples/scripts/json.js
import http from 'k6/http';
import { check, group } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const headers = { 'Content-Type': 'application/json' };

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const text = `note ${__VU} ${__ITER}`;
  let id;
  group('make', () => {
    const made = http.post(`${base}/api/notes`, JSON.stringify({ text }), { headers });
    check(made, { 'is made': (answer) => answer.status === 201 });
    id = made.json('id');
  });
  const named = { tags: { name: '/api/notes/ID' } };
  group('read', () => {
    const read = http.get(`${base}/api/notes/${id}`, named);
    check(read, { 'is mine': (answer) => answer.json('text') === text });
  });
  group('remove', () => {
    check(http.del(`${base}/api/notes/${id}`, null, named), { 'is gone': (answer) => answer.status === 204 });
    const again = http.get(`${base}/api/notes/${id}`, { ...named, responseCallback: http.expectedStatuses(404) });
    check(again, { 'is not found': (answer) => answer.status === 404 });
  });
}
