// Written by `brunt import` from board.har (har).
import http from 'k6/http';
import { check, group, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'https://board.example';

export const options = {
  // vus: 10,
  // duration: '5m',
  // thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'], checks: ['rate>0.99'] },
};

// What answers gave for later requests of the same iteration.
let found = {};

export default function () {
  found = {};
  group('page 1 Log in', page1LogIn);
  group('page 2 Board', page2Board);
  group('page 3 Board', page3Board);
}

function page1LogIn() {
  let res;
  res = http.get(`${BASE_URL}/login`, { headers: { Accept: 'text/html' } });
  found.token = res.html('input[name="token"]').attr('value'); // from the page's input token, for token of POST /login
  check(res, {
    'GET /login is 200': (r) => r.status === 200,
    'GET /login has token': () => found.token !== undefined,
  });

  res = http.post(`${BASE_URL}/login`, `token=${formEncode(found.token)}&user=ada&password=engine+1843`, {
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Origin: `${BASE_URL}`,
      Referer: `${BASE_URL}/login`,
    },
  });
  found.csrfToken = res.html('meta[name="csrf-token"]').attr('content'); // from the page's meta csrf-token, for the header X-CSRF-Token of POST /api/posts
  check(res, {
    'POST /login is 200': (r) => r.status === 200,
    'POST /login has csrf-token': () => found.csrfToken !== undefined,
  });
}

function page2Board() {
  let res;
  sleep(0.7);

  res = http.post(`${BASE_URL}/api/posts`, '{"title":"Hello"}', { headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': found.csrfToken } });
  try { found.postId = res.json('post.id'); } catch (e) { found.postId = undefined; } // from the JSON's post.id, for the path of PUT /api/posts/{}
  check(res, {
    'POST /api/posts is 201': (r) => r.status === 201,
    'POST /api/posts has post id': () => found.postId !== undefined,
  });

  res = http.put(`${BASE_URL}/api/posts/${encodeURIComponent(found.postId)}`, `{"id":${found.postId},"title":"Hello again"}`, {
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': found.csrfToken },
    tags: { name: 'PUT /api/posts/{}' },
  });
  check(res, { 'PUT /api/posts/{} is 200': (r) => r.status === 200 });
}

function page3Board() {
  let res;
  sleep(0.6);

  res = http.get(`${BASE_URL}/board?show=${encodeURIComponent(found.postId)}`, { headers: { Referer: `${BASE_URL}/board` }, tags: { name: 'GET /board' } });
  check(res, { 'GET /board is 200': (r) => r.status === 200 });
}

// A value as forms encode it.
function formEncode(value) {
  return encodeURIComponent(value).replace(/%20/g, '+');
}
