// k6/websockets: the browsers' WebSocket, with events, and Blob.
(function (native) {
  'use strict';
  const EVENTS = ['open', 'message', 'error', 'close', 'ping', 'pong'];
  const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];

  const bytesOf = (part) => {
    if (part instanceof Blob) return part[HELD];
    const bytes = native.bytes(part);
    return bytes === null ? new TextEncoder().encode(String(part)).buffer : bytes;
  };
  const joined = (parts) => {
    const all = parts.map((part) => new Uint8Array(bytesOf(part)));
    const whole = new Uint8Array(all.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of all) { whole.set(part, at); at += part.length; }
    return whole.buffer;
  };
  const HELD = Symbol('held');

  class Blob {
    constructor(parts = [], options = {}) {
      if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') throw new TypeError('Blob parts need to be a list');
      Object.defineProperty(this, HELD, { value: joined([...parts]) });
      this.type = options && options.type !== undefined ? String(options.type) : '';
    }
    get size() { return this[HELD].byteLength; }
    async text() { return native.text(this[HELD]); }
    async arrayBuffer() { return this[HELD].slice(0); }
    async bytes() { return new Uint8Array(this[HELD].slice(0)); }
    slice(from = 0, to = this.size, type = '') { return new Blob([this[HELD].slice(from, to)], { type }); }
    stream() {
      const held = this[HELD];
      let done = false;
      return {
        getReader: () => ({
          read: async () => (done ? { done: true, value: undefined } : ((done = true), { done: false, value: new Uint8Array(held.slice(0)) })),
          releaseLock() {},
          cancel: async () => { done = true; },
        }),
        async *[Symbol.asyncIterator]() { yield new Uint8Array(held.slice(0)); },
      };
    }
  }

  const paramsOf = (params) => {
    if (params == null) return {};
    if (typeof params !== 'object') throw new TypeError('invalid WebSocket parameters');
    for (const name of Object.keys(params)) {
      if (!['headers', 'tags', 'jar', 'compression'].includes(name)) throw new Error(`unknown option ${name}`);
    }
    const { headers, tags, jar, compression } = params;
    return { headers, tags, jar, compression };
  };
  const protocolsOf = (protocols) => (protocols == null ? [] : (Array.isArray(protocols) ? protocols : [protocols]).map(String));
  const urlOf = (url) => {
    const text = url === undefined ? '' : String(url);
    let parsed;
    try { parsed = new URL(text); } catch { throw new SyntaxError(`WebSocket requires valid url, but got "${text}"`); }
    if (parsed.protocol !== 'ws:' && parsed.protocol !== 'wss:') throw new SyntaxError(`WebSocket requires url with scheme ws or wss, but got "${parsed.protocol.slice(0, -1)}"`);
    if (parsed.hash !== '') throw new SyntaxError(`WebSocket requires no url fragment, but got "${parsed.hash.slice(1)}"`);
    return text;
  };

  class WebSocket {
    #ticket; #url; #state = CONNECTING; #protocol = ''; #extensions = ''; #buffered = 0; #binary = 'blob';
    #listeners = new Map(EVENTS.map((name) => [name, []]));
    #on = new Map();
    #closing = null;
    constructor(url, protocols, params) {
      if (arguments.length < 1) throw new TypeError('WebSocket requires a url');
      this.#url = urlOf(url);
      const wanted = { url: this.#url, protocols: protocolsOf(protocols), ...paramsOf(params) };
      this.#ticket = native.start(wanted, (event) => this.#handle(event));
    }
    get readyState() { return this.#state; }
    get url() { return this.#url; }
    get protocol() { return this.#protocol; }
    get extensions() { return this.#extensions; }
    get bufferedAmount() { return this.#buffered; }
    get binaryType() { return this.#binary; }
    set binaryType(type) {
      if (type !== 'blob' && type !== 'arraybuffer') throw new TypeError(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
      this.#binary = type;
    }

    send(message) {
      if (this.#state === CONNECTING) throw new Error('InvalidStateError: the WebSocket is connecting');
      if (this.#state !== OPEN) throw new Error('InvalidStateError: the WebSocket is closing or closed');
      let bytes = message;
      if (typeof message !== 'string') {
        bytes = message instanceof Blob ? message[HELD] : native.bytes(message);
        if (bytes === null) throw new TypeError(`unsupported send type ${typeof message}`);
      }
      this.#buffer(typeof bytes === 'string' ? new TextEncoder().encode(bytes).length : bytes.byteLength);
      native.send(this.#ticket, bytes);
    }
    // What is sent leaves for the system at the end of this turn.
    #buffer(length) {
      if (this.#buffered === 0) Promise.resolve().then(() => { this.#buffered = 0; });
      this.#buffered += length;
    }
    ping() {
      if (this.#state !== OPEN) throw new Error('InvalidStateError: the WebSocket is not open');
      native.ping(this.#ticket);
    }
    close(code, reason) {
      const number = code === undefined ? 1000 : Number(code);
      const text = reason === undefined ? '' : String(reason);
      if (number !== 1000 && !(number >= 3000 && number <= 4999)) throw new Error(`InvalidAccessError: the close code has to be 1000 or from 3000 to 4999, not ${code}`);
      if (new TextEncoder().encode(text).length > 123) throw new SyntaxError('the close reason is longer than 123 bytes');
      if (this.#state >= CLOSING) return;
      if (this.#state === CONNECTING) { this.#state = CLOSING; this.#closing = [number, text]; return; }
      this.#state = CLOSING;
      native.close(this.#ticket, number, text);
    }
    addEventListener(name, listener) {
      if (typeof listener !== 'function') throw new TypeError('a listener needs to be a function');
      if (!this.#listeners.has(name)) throw new TypeError(`unknown event type: ${name}`);
      this.#listeners.get(name).push(listener);
    }

    #tell(type, more = {}) {
      const event = { type, target: this, timestamp: Date.now(), ...more };
      const own = this.#on.get(type);
      if (own) own.call(this, event);
      for (const listener of this.#listeners.get(type)) listener.call(this, event);
    }
    #message(data) { this.#tell('message', { data, origin: this.#url }); }
    #handle(event) {
      if (typeof event === 'string') return this.#message(event);
      if (event instanceof ArrayBuffer) return this.#message(this.#binary === 'blob' ? new Blob([event]) : event);
      const [name, first, second] = event;
      if (name === 'open') return this.#opened(first);
      if (name === 'refused') { this.#state = CLOSED; this.#tell('error', { error: second }); return this.#tell('close', { code: 1006, reason: second }); }
      if (name === 'error') { this.#state = CLOSED; return this.#tell('error', { error: first }); }
      if (name === 'close') { this.#state = CLOSED; return this.#tell('close', { code: first, reason: second }); }
      return this.#tell(name);
    }
    #opened(answer) {
      this.#protocol = answer.protocol;
      this.#extensions = answer.extensions;
      if (this.#closing) return native.close(this.#ticket, ...this.#closing);
      this.#state = OPEN;
      this.#tell('open');
    }
    static {
      for (const name of EVENTS) {
        Object.defineProperty(WebSocket.prototype, `on${name}`, {
          get() { return this.#on.get(name) ?? null; },
          set(listener) { if (typeof listener === 'function') this.#on.set(name, listener); else this.#on.delete(name); },
          enumerable: true,
          configurable: true,
        });
      }
      ['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'].forEach((name, value) => {
        for (const on of [WebSocket, WebSocket.prototype]) Object.defineProperty(on, name, { value, enumerable: true });
      });
    }
  }
  return { WebSocket, Blob };
})
