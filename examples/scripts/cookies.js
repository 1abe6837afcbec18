// Cookies: those of the server are kept for each user, one is set by hand, and a new visitor begins with an empty jar.
//
//   brunt run examples/scripts/cookies.js
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';

// A user of the script keeps its cookies from one iteration to the next.
export const options = { vus: 5, duration: '10s', noCookiesReset: true, thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const jar = http.cookieJar();
  jar.set(base, 'theme', 'dark');
  http.get(`${base}/`);
  const session = jar.cookiesForURL(base).session;
  http.get(`${base}/products/1`);
  check(jar.cookiesForURL(base), {
    'has a session': () => session && session.length === 1,
    'keeps it': (cookies) => cookies.session[0] === session[0],
    'has the theme': (cookies) => cookies.theme[0] === 'dark',
  });
  const stranger = http.get(`${base}/account`, { jar: new http.CookieJar() });
  check(stranger, { 'a stranger must log in': (page) => page.url.endsWith('/login') });
}
