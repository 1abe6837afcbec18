// Set-up and teardown: a note is made once before the load, read by all users, and removed at the end.
//
//   brunt run examples/scripts/setup.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const json = { headers: { 'Content-Type': 'application/json' } };

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export function setup() {
  const made = http.post(`${base}/api/notes`, JSON.stringify({ text: 'before the load' }), json);
  if (made.status !== 201) {
    throw new Error(`no note: ${made.status}`);
  }
  return { id: made.json('id') };
}

export default function (note) {
  const read = http.get(`${base}/api/notes/${note.id}`, { tags: { name: '/api/notes/ID' } });
  check(read, { 'is the note': (answer) => answer.json('text') === 'before the load' });
}

export function teardown(note) {
  check(http.del(`${base}/api/notes/${note.id}`), { 'is removed': (answer) => answer.status === 204 });
}
