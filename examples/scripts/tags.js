// Tags and names: numbered pages count as one, and a threshold holds for one kind of page alone.
//
//   brunt run examples/scripts/tags.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';

export const options = {
  vus: 5,
  duration: '10s',
  thresholds: {
    'http_req_duration{kind:product}': ['p(95)<500'],
    'checks{kind:product}': ['rate>0.99'],
  },
};

export default function () {
  const id = 1 + (__ITER % 4);
  // The name keeps four URLs from being four lines of the report.
  const tags = { name: '/products/ID', kind: 'product' };
  const page = http.get(`${base}/products/${id}`, { tags });
  check(page, { 'is a product': (one) => one.html().find('h1').text() !== '' }, { kind: 'product' });
}
