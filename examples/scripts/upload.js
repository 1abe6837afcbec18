// An upload: a file in a form of several parts, with the CSRF token in the header that Rails' scripts use.
//
//   brunt run examples/scripts/upload.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const picture = open('../data/users.csv', 'b');

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const form = http.get(`${base}/upload`);
  const token = form.html().find('meta[name=csrf-token]').attr('content');
  const parts = { authenticity_token: token, picture: http.file(picture, 'users.csv', 'text/csv') };
  const answer = http.post(`${base}/upload`, parts);
  check(answer, { 'is stored': (one) => one.status === 201, 'is whole': (one) => one.json('bytes') > picture.byteLength });
}
