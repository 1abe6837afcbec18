// GraphQL: a query with variables. An error of GraphQL has status 200, so a check looks into the answer.
//
//   brunt run examples/scripts/graphql.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const query = 'query Product($id: Int!) { product(id: $id) { id name price } }';

export const options = { vus: 5, duration: '10s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const id = 1 + Math.floor(Math.random() * 4);
  const body = JSON.stringify({ query, variables: { id } });
  const answer = http.post(`${base}/graphql`, body, {
    headers: { 'Content-Type': 'application/json' },
    // All queries go to one URL: the operation's name tells them apart in reports.
    tags: { name: 'graphql Product' },
  });
  check(answer, {
    'has no errors': (one) => one.json('errors') === undefined,
    'is the product': (one) => one.json('data.product.id') === id,
  });
}
