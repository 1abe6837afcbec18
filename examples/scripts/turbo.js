// Turbo: a form that answers with a stream. The Accept header is Turbo's; without it the server answers with a redirect.
//
//   brunt run examples/scripts/turbo.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const headers = { Accept: 'text/vnd.turbo-stream.html, text/html, application/xhtml+xml' };

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const product = http.get(`${base}/products/1`);
  const token = product.html().find('meta[name=csrf-token]').attr('content');
  const answer = http.post(`${base}/cart`, { authenticity_token: token, product: '1' }, { headers });
  check(answer, {
    'is a stream': (one) => one.headers['Content-Type'].startsWith('text/vnd.turbo-stream.html'),
    'updates the cart': (one) => one.html().find('turbo-stream[action=update]').attr('target') === 'cart',
  });
}
