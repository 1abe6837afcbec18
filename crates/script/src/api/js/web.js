// What browsers have and k6 lacks: URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, performance.
(function (native) {
  'use strict';
  const hidden = (target, name, value) =>
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
  const escaped = (text) =>
    encodeURIComponent(text.toWellFormed()).replace(/%20/g, '+')
      .replace(/[!'()~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
  const unescaped = (text) => native.unescape(text.replace(/\+/g, ' '));

  class URLSearchParams {
    #pairs = [];
    #changed = null;
    constructor(init = '') {
      if (init !== null && typeof init === 'object') {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const [name, value, ...rest] = pair;
            if (value === undefined || rest.length) throw new TypeError('each pair has to be a name and a value');
            this.append(name, value);
          }
        } else {
          for (const name of Object.keys(init)) this.append(name, init[name]);
        }
      } else {
        this.#read(String(init));
      }
    }
    #read(text) {
      this.#pairs = text.replace(/^\?/, '').split('&').filter((part) => part !== '').map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [unescaped(part), ''] : [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))];
      });
    }
    static { native.link = (params, search, changed) => { params.#read(search); params.#changed = changed; }; }
    #tell() { if (this.#changed) this.#changed(this.toString()); }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#pairs.push([String(name), String(value)]); this.#tell(); }
    delete(name, value) {
      this.#pairs = this.#pairs.filter((p) => p[0] !== String(name) || (value !== undefined && p[1] !== String(value)));
      this.#tell();
    }
    get(name) { const pair = this.#pairs.find((p) => p[0] === String(name)); return pair ? pair[1] : null; }
    getAll(name) { return this.#pairs.filter((p) => p[0] === String(name)).map((p) => p[1]); }
    has(name, value) {
      return this.#pairs.some((p) => p[0] === String(name) && (value === undefined || p[1] === String(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex((p) => p[0] === String(name));
      if (at < 0) {
        this.#pairs.push([String(name), String(value)]);
      } else {
        this.#pairs[at][1] = String(value);
        this.#pairs = this.#pairs.filter((p, i) => i <= at || p[0] !== String(name));
      }
      this.#tell();
    }
    sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#tell(); }
    forEach(call, self) { for (const [name, value] of this) call.call(self, value, name, this); }
    *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
    *keys() { for (const pair of this.#pairs) yield pair[0]; }
    *values() { for (const pair of this.#pairs) yield pair[1]; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([n, v]) => `${escaped(n)}=${escaped(v)}`).join('&'); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
  }
  const link = native.link;

  class URL {
    #href;
    #params = null;
    constructor(url, base) {
      const href = native.parse(String(url), base === undefined ? null : String(base));
      if (href == null) throw new TypeError(`Invalid URL: "${url}"`);
      this.#href = href;
    }
    static canParse(url, base) { return native.parse(String(url), base === undefined ? null : String(base)) != null; }
    static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
    get origin() { return native.part(this.#href, 'origin'); }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams();
        link(this.#params, this.search, (text) => { this.#href = native.change(this.#href, 'search', text); });
      }
      return this.#params;
    }
    toString() { return this.#href; }
    toJSON() { return this.#href; }
    get [Symbol.toStringTag]() { return 'URL'; }
    static {
      for (const name of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
        Object.defineProperty(URL.prototype, name, {
          get() { return native.part(this.#href, name); },
          set(value) {
            const href = native.change(this.#href, name, String(value));
            if (href == null) throw new TypeError(`Invalid URL: "${value}"`);
            this.#href = href;
            if (this.#params && (name === 'href' || name === 'search')) {
              link(this.#params, this.search, (text) => { this.#href = native.change(this.#href, 'search', text); });
            }
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
  }

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new Uint8Array(native.encode(String(text))); }
    encodeInto(text, into) {
      let read = 0, written = 0;
      for (const letter of String(text)) {
        const bytes = this.encode(letter);
        if (written + bytes.length > into.length) break;
        into.set(bytes, written);
        read += letter.length;
        written += bytes.length;
      }
      return { read, written };
    }
    get [Symbol.toStringTag]() { return 'TextEncoder'; }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #rest = new Uint8Array(0);
    #begun = false;
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      const encoding = native.encoding(String(label));
      if (encoding == null) throw new RangeError(`The encoding label provided ('${label}') is invalid`);
      this.#encoding = encoding;
      this.#fatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input = new Uint8Array(0), { stream = false } = {}) {
      const fresh = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
      const all = new Uint8Array(this.#rest.length + fresh.length);
      all.set(this.#rest);
      all.set(fresh, this.#rest.length);
      const keep = stream ? native.unfinished(all, this.#encoding) : 0;
      this.#rest = all.slice(all.length - keep);
      let text = native.decode(all.subarray(0, all.length - keep), this.#encoding, this.#fatal);
      if (text == null) { this.#rest = new Uint8Array(0); throw new TypeError('The encoded data was not valid.'); }
      if (!this.#begun && !this.#ignoreBOM && text.startsWith('\ufeff')) text = text.slice(1);
      this.#begun = stream && (this.#begun || text !== '');
      return text;
    }
    get [Symbol.toStringTag]() { return 'TextDecoder'; }
  }

  const uncloneable = (value) => {
    const error = new Error(`${typeof value === 'symbol' ? 'a symbol' : String(value)} could not be cloned.`);
    hidden(error, 'name', 'DataCloneError');
    return error;
  };
  const clone = (value, seen) => {
    if (typeof value === 'function' || typeof value === 'symbol') throw uncloneable(value);
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => { seen.set(value, copy); return copy; };
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof Boolean || value instanceof Number || value instanceof String) return keep(Object(value.valueOf()));
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [k, v] of value) copy.set(clone(k, seen), clone(v, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const v of value) copy.add(clone(v, seen));
      return copy;
    }
    if (value instanceof Error) {
      const kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
      const copy = keep(new (kinds[value.name] || Error)(value.message));
      hidden(copy, 'stack', value.stack);
      if ('cause' in value) hidden(copy, 'cause', clone(value.cause, seen));
      return copy;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) throw uncloneable(value);
    const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) copy[key] = clone(value[key], seen);
    return copy;
  };
  const structuredClone = (value) => clone(value, new Map());
  const performance = { now: native.now, get timeOrigin() { return Date.now() - native.now(); }, toJSON() { return { timeOrigin: this.timeOrigin }; } };
  return { URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, performance, atob: native.atob, btoa: native.btoa };
})
