// What scripts import from https://jslib.k6.io/httpx/*: a session over k6/http with an address, headers, tags and a time-out for
// all its requests. What a request has of its own counts before what the session has.
import http from 'k6/http';

const NAMES = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head', 'trace'];

export class Request {
  constructor(method, url, body, params) {
    this.method = method;
    this.url = url;
    this.body = body;
    this.params = params;
  }
}
const classFor = (method) => class extends Request {
  constructor(url, body, params) {
    super(method, url, body, params);
  }
};
export const Get = classFor('GET');
export const Post = classFor('POST');
export const Put = classFor('PUT');
export const Patch = classFor('PATCH');
export const Delete = classFor('DELETE');
export const Options = classFor('OPTIONS');
export const Head = classFor('HEAD');
export const Trace = classFor('TRACE');

export class Httpx {
  constructor(options = {}) {
    this.baseURL = options.baseURL || '';
    this.headers = { ...options.headers };
    this.tags = { ...options.tags };
    this.timeout = options.timeout;
  }
  setBaseUrl(url) {
    this.baseURL = url;
  }
  setTimeout(timeout) {
    this.timeout = timeout;
  }
  addHeader(name, value) {
    this.headers[name] = value;
  }
  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }
  clearHeader(name) {
    delete this.headers[name];
  }
  addTag(name, value) {
    this.tags[name] = value;
  }
  addTags(tags) {
    Object.assign(this.tags, tags);
  }
  clearTag(name) {
    delete this.tags[name];
  }
  request(method, url, body, params) {
    return http.request(method, address(this, url), body, merged(this, params));
  }
  asyncRequest(method, url, body, params) {
    return http.asyncRequest(method, address(this, url), body, merged(this, params));
  }
  batch(requests, params) {
    const one = (request) => {
      const { method, url, body, params: own } = normal(request);
      return { method, url: address(this, url), body, params: merged(this, params, own) };
    };
    if (Array.isArray(requests)) return http.batch(requests.map(one));
    return http.batch(Object.fromEntries(Object.entries(requests).map(([name, request]) => [name, one(request)])));
  }
}
for (const name of NAMES) {
  const method = name.toUpperCase();
  const later = `async${name[0].toUpperCase()}${name.slice(1)}`;
  Httpx.prototype[name] = function (url, body, params) {
    return this.request(method, url, body, params);
  };
  Httpx.prototype[later] = function (url, body, params) {
    return this.asyncRequest(method, url, body, params);
  };
}

// An address of its own stays as it is.
function address(session, url) {
  return typeof url === 'string' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? `${session.baseURL}${url}` : url;
}
// The parameters of a request: the last ones that are given count.
function merged(session, ...given) {
  const all = { ...(session.timeout === undefined ? {} : { timeout: session.timeout }), headers: { ...session.headers }, tags: { ...session.tags } };
  for (const params of given) {
    if (!params) continue;
    const { headers, tags, ...rest } = params;
    Object.assign(all, rest);
    Object.assign(all.headers, headers);
    Object.assign(all.tags, tags);
  }
  return all;
}
// A request of a batch in any of the forms of `http.batch`.
function normal(request) {
  if (typeof request === 'string') return new Request('GET', request);
  return Array.isArray(request) ? new Request(...request) : { ...request, method: request.method || 'GET' };
}
