// A form that is filled in and sent as a browser sends it, hidden fields and button included.
//
//   brunt run examples/scripts/form.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const page = http.get(`${base}/login`);
  const account = page.submitForm({ formSelector: 'form', fields: { name: 'ada', password: 'secret' } });
  check(account, { 'is logged in': (answer) => answer.html().find('#user').text() === 'ada' });
}
