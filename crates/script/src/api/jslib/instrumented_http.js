// Clients that give every request headers of their own: what the instrumentations for Tempo and Pyroscope share.
import http from 'k6/http';

// The functions as they are before any is replaced.
const { request: send, asyncRequest: sendLater } = http;
const WITHOUT_BODY = ['get', 'head'];
const WITH_BODY = { post: 'POST', put: 'PUT', patch: 'PATCH', del: 'DELETE', options: 'OPTIONS' };

// A client like k6/http. `around` is given method, address, body, parameters, and a function that sends with these headers.
export class InstrumentedClient {
  constructor(around) {
    Object.defineProperty(this, 'around', { value: around });
  }
  request(method, url, body, params) {
    return this.around({ method, url, body, params }, (headers) => send(method, url, body, withHeaders(params, headers)));
  }
  asyncRequest(method, url, body, params) {
    return this.around({ method, url, body, params }, (headers) => sendLater(method, url, body, withHeaders(params, headers)));
  }
}
for (const name of WITHOUT_BODY) {
  InstrumentedClient.prototype[name] = function (url, params) {
    return this.request(name.toUpperCase(), url, null, params);
  };
}
for (const [name, method] of Object.entries(WITH_BODY)) {
  InstrumentedClient.prototype[name] = function (url, body, params) {
    return this.request(method, url, body, params);
  };
}

// From now on the functions of k6/http are those of the client, in every module.
export function instrument(client) {
  for (const name of ['request', 'asyncRequest', ...WITHOUT_BODY, ...Object.keys(WITH_BODY)]) {
    http[name] = (...given) => client[name](...given);
  }
}

function withHeaders(params, headers) {
  return { ...params, headers: { ...(params && params.headers), ...headers } };
}
