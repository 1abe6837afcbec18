// Metrics of your own: a counter, a gauge, a rate and a trend, each with a threshold.
//
//   brunt run examples/scripts/metrics.js
import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const base = __ENV.BASE || 'http://127.0.0.1:8090';
const bought = new Counter('products_seen');
const largest = new Gauge('largest_answer');
const complete = new Rate('complete_answers');
const perProduct = new Trend('time_a_product', true);

export const options = {
  vus: 5,
  duration: '10s',
  thresholds: {
    products_seen: ['count>0'],
    complete_answers: ['rate>0.99'],
    time_a_product: ['p(90)<200'],
    largest_answer: ['value>0'],
  },
};

export default function () {
  const answer = http.get(`${base}/api/products`);
  const products = answer.json();
  bought.add(products.length);
  largest.add(answer.body.length);
  complete.add(products.length === 4);
  perProduct.add(answer.timings.duration / products.length);
}
