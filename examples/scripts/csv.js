// Users from a CSV file: read once, shared by all users of the script, each iteration takes one.
//
//   brunt run examples/scripts/csv.js
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const users = new SharedArray('users', () => {
  const [head, ...rows] = open('../data/users.csv').trim().split('\n').map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(head.map((name, column) => [name, row[column]])));
});

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const user = users[exec.scenario.iterationInTest % users.length];
  const form = http.get(`${base}/login`);
  const account = form.submitForm({ fields: { name: user.name, password: user.password } });
  check(account, { 'is the user': (page) => page.html().find('#user').text() === user.name });
}
