// A log-in with a CSRF token: the form is fetched, its token goes back with name and password, and the cookie opens the account.
//
//   brunt run examples/scripts/login.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE || 'http://127.0.0.1:8090';

export const options = { vus: 5, duration: '20s', thresholds: { checks: ['rate>0.99'] } };

export default function () {
  const form = http.get(`${base}/login`);
  // Rails: the hidden input of the form. A page with a script has the same token in its head: meta[name="csrf-token"].
  const token = form.html().find('input[name=authenticity_token]').attr('value');
  const account = http.post(`${base}/login`, { authenticity_token: token, name: 'kay', password: 'secret' });
  // The redirect after the log-in is followed. Without this check a redirect back to the log-in page would count as a success.
  check(account, {
    'is the account': (page) => page.url.endsWith('/account'),
    'is kay': (page) => page.html().find('#user').text() === 'kay',
  });
  sleep(1);
}
