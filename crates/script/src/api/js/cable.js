// k6/x/cable: Action Cable as blocking code. Messages wait in their channel until they are received.
(function (native) {
  'use strict';
  const OPTIONS = {
    headers: 'headers', cookies: 'cookies', tags: 'tags', codec: 'codec', handshaketimeouts: 'handshakeTimeoutS', receivetimeoutms: 'receiveTimeoutMs',
    loglevel: 'logLevel', extended: 'extended', sessionid: 'sessionId',
  };
  const LEVELS = ['debug', 'info', 'warn', 'error'];
  const INBOX_MAX = 2048;

  const optionsOf = (given) => {
    const options = { handshakeTimeoutS: 60, receiveTimeoutMs: 1000, codec: 'json', logLevel: 'warn', extended: false };
    if (given == null) return options;
    if (typeof given !== 'object') throw new TypeError('cable.connect(): the options need to be an object');
    for (const name of Object.keys(given)) {
      const known = OPTIONS[name.toLowerCase()];
      if (!known) throw new Error(`cable.connect(): unknown option: ${name}`);
      if (given[name] !== undefined && given[name] !== null) options[known] = given[name];
    }
    if (!['json', 'msgpack', 'protobuf'].includes(options.codec)) throw new Error(`cable.connect(): unknown codec: ${options.codec}; there are json, msgpack and protobuf`);
    return options;
  };
  const headersOf = (url, options) => {
    const headers = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value);
    const has = (name) => Object.keys(headers).find((known) => known.toLowerCase() === name);
    if (!has('origin')) headers.Origin = url.replace(/^ws/i, 'http').replace(/^(https?:\/\/[^/?#]*).*$/i, '$1');
    if (options.cookies !== undefined) {
      if (has('cookie')) delete headers[has('cookie')];
      headers.Cookie = cookiesOf(options.cookies);
    }
    if (options.sessionId !== undefined) headers['X-ANYCABLE-RESTORE-SID'] = String(options.sessionId);
    return headers;
  };
  const cookiesOf = (cookies) => (typeof cookies === 'object' ? Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ') : String(cookies));

  const sorted = (value) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(sorted);
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
  };
  const identifierOf = (channel, params) => JSON.stringify(sorted({ ...params, channel: String(channel) }));
  const equal = (a, b) => {
    if (a === b) return true;
    if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false;
    const [left, right] = [Object.keys(a), Object.keys(b)];
    return left.length === right.length && left.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
  };
  // What a condition is to a message: a function is asked, an object's fields have to be there, anything else is the message.
  const matcher = (condition) => {
    if (condition === undefined || condition === null) return () => true;
    if (typeof condition === 'function') return condition;
    if (typeof condition !== 'object') return (message) => message === condition;
    const wanted = Object.entries(condition);
    return (message) => message !== null && typeof message === 'object' && wanted.every(([key, value]) => equal(message[key], value));
  };

  class Channel {
    #client; #identifier; #inbox = []; #ignores = false; #listeners = []; #since; #dropped = 0;
    state = 'pending'; #acked = 0;
    constructor(client, identifier) {
      this.#client = client;
      this.#identifier = identifier;
      this.#since = native.now();
      Object.defineProperty(this, 'state', { enumerable: false });
    }
    static confirmed(channel, state) { channel.state = state; channel.#acked = native.now() - channel.#since; }
    static took(channel, text, at, place) {
      if (channel.#ignores && channel.#listeners.length === 0) return;
      if (text === undefined) return;
      const message = JSON.parse(text);
      if (message !== null && typeof message === 'object' && !Array.isArray(message)) message.__timestamp__ = at;
      if (place) channel.position = place;
      for (const listener of channel.#listeners) listener(message);
      if (channel.#ignores) return;
      if (channel.#inbox.length >= INBOX_MAX) {
        channel.#inbox.shift();
        if (channel.#dropped++ === 0) native.log('warn', 'cable', `the inbox of ${channel.#identifier} is full: its oldest messages are dropped`);
      }
      channel.#inbox.push(message);
    }
    ackDuration() { return Math.round(this.#acked); }
    perform(action, attributes = {}) {
      if (attributes === null || typeof attributes !== 'object') throw new TypeError('channel.perform(): the attributes need to be an object');
      this.#client.command('message', this.#identifier, JSON.stringify({ ...attributes, action: String(action) }));
    }
    // The next message that matches, if one comes by then; others before it are dropped.
    #next(matches, until) {
      for (;;) {
        while (this.#inbox.length > 0) {
          const message = this.#inbox.shift();
          if (matches(message)) return { message };
        }
        if (!this.#client.step(until)) return null;
      }
    }
    #late() { this.#client.log('warn', this.#client.open ? 'receive timeout exceeded; consider increasing receiveTimeoutMs configuration option' : 'the connection is closed: nothing is received any more'); }
    receive(condition) {
      const found = this.#next(matcher(condition), native.now() + this.#client.options.receiveTimeoutMs);
      if (!found) { this.#late(); return null; }
      return found.message;
    }
    receiveN(count, condition) {
      const [matches, wait, all] = [matcher(condition), this.#client.options.receiveTimeoutMs, []];
      while (all.length < count) {
        const found = this.#next(matches, native.now() + wait);
        if (!found) { this.#late(); break; }
        all.push(found.message);
      }
      return all;
    }
    receiveAll(seconds, condition) {
      const [matches, until, all] = [matcher(condition), native.now() + Number(seconds) * 1000, []];
      for (let found; (found = this.#next(matches, until)); ) all.push(found.message);
      return all;
    }
    onMessage(listener) {
      if (typeof listener !== 'function') throw new TypeError('channel.onMessage() needs a function');
      this.#listeners.push(listener);
      if (this.#ignores) this.#client.ignore(this.#identifier, false);
    }
    ignoreReads() {
      this.#ignores = true;
      this.#inbox = [];
      if (this.#listeners.length === 0) this.#client.ignore(this.#identifier, true);
    }
    unsubscribe() {
      this.#client.command('unsubscribe', this.#identifier);
      this.#client.channels.delete(this.#identifier);
      this.state = 'unsubscribed';
    }
    whisper(data) { this.#client.command('whisper', this.#identifier, JSON.stringify(data)); }
    join(id, info = {}) { this.#client.command('join', this.#identifier, JSON.stringify({ id: String(id), info })); }
    leave() { this.#client.command('leave', this.#identifier); }
    presence() { this.#client.command('presence', this.#identifier); }
    history(since) { this.#client.command('history', this.#identifier, null, since === undefined ? null : Number(since)); }
  }

  class Subscription {
    #client; #channel; #identifier;
    constructor(client, channel, identifier) { this.#client = client; this.#channel = channel; this.#identifier = identifier; }
    await(milliseconds) {
      const until = native.now() + (milliseconds ?? this.#client.options.receiveTimeoutMs);
      while (this.#channel.state === 'pending') {
        if (!this.#client.step(until)) {
          this.#client.channels.delete(this.#identifier);
          throw new Error(`failed to subscribe to ${this.#identifier}: ${this.#client.open ? 'timeout exceeded' : 'the connection is closed'}`);
        }
      }
      if (this.#channel.state === 'rejected') throw new Error(`subscription to ${this.#identifier} rejected`);
      return this.#channel;
    }
  }

  const makeClient = (ticket, options) => {
    const inner = {
      options, channels: new Map(), open: true, welcome: null,
      log(level, text) { if (LEVELS.indexOf(level) >= LEVELS.indexOf(String(options.logLevel).replace('warning', 'warn'))) native.log(level, 'cable', text); },
      command(kind, identifier, data = null, since = null) {
        if (!inner.open) { inner.log('warn', `the connection is closed: ${kind} is not sent`); return; }
        native.command(ticket, { kind, identifier, data, since });
      },
      ignore(identifier, ignores) { if (inner.open) native.ignore(ticket, identifier, ignores); },
      // Takes one event, if one comes until then; says whether one came.
      step(until) {
        if (!inner.open) return false;
        const event = native.next(ticket, until);
        if (event === undefined) return false;
        inner.take(event);
        return true;
      },
      take([name, identifier, text, at, place]) {
        const channel = inner.channels.get(identifier);
        switch (name) {
          case 'message': case 'presence': if (channel) Channel.took(channel, text, at, place); break;
          case 'welcome': inner.welcome = { sessionId: identifier || undefined, restored: text === true }; break;
          case 'confirm': if (channel) Channel.confirmed(channel, 'confirmed'); break;
          case 'reject': if (channel) { Channel.confirmed(channel, 'rejected'); inner.channels.delete(identifier); } break;
          case 'history': if (channel) channel.historyState = text; break;
          case 'disconnect': inner.log('warn', `disconnected by the server: ${identifier}`); inner.reconnect = text; inner.end(); break;
          case 'error': inner.failure = identifier; inner.log('warn', `connection failed: ${identifier}`); break;
          case 'close': inner.open = false; native.drop(ticket, 1000); break;
        }
      },
      end() { if (inner.open) { inner.open = false; native.drop(ticket, 1000); } },
    };
    return inner;
  };

  class Client {
    #inner;
    constructor(inner) { this.#inner = inner; }
    get sessionId() { return this.#inner.welcome.sessionId; }
    get restored() { return this.#inner.welcome.restored; }
    get connected() { this.#drain(); return this.#inner.open; }
    subscribe(channel, params) { return this.subscribeAsync(channel, params).await(); }
    subscribeAsync(name, params) {
      const inner = this.#inner;
      const identifier = identifierOf(name, params);
      const known = inner.channels.get(identifier);
      if (known) {
        inner.log('warn', `already subscribed to ${identifier}`);
        return new Subscription(inner, known, identifier);
      }
      // It is there before the command is sent: no confirmation comes too early.
      const channel = new Channel(inner, identifier);
      inner.channels.set(identifier, channel);
      inner.command('subscribe', identifier);
      return new Subscription(inner, channel, identifier);
    }
    #drain() { while (this.#inner.step(0)); }
    loop(each) {
      if (typeof each !== 'function') throw new TypeError('client.loop() needs a function');
      for (;;) {
        this.#drain();
        if (each()) return;
        // One that never waits has the others have their turn.
        this.#inner.open ? this.#inner.step(native.now() + 1) : native.pause(1);
      }
    }
    disconnect() { this.#inner.end(); }
  }

  const connect = (url, given) => {
    const options = optionsOf(given);
    const address = String(url);
    const protocol = `actioncable-v1-${options.extended ? 'ext-' : ''}${options.codec}`;
    const timeout = Number(options.handshakeTimeoutS) * 1000;
    const until = native.now() + timeout;
    const [ticket, [name, , why]] = native.open({
      url: address, headers: headersOf(address, options), tags: options.tags, protocols: [protocol], timeout,
    });
    if (name === 'refused') {
      native.drop(ticket, 1000);
      native.log('error', 'cable', `failed to connect: ${why}`);
      return null;
    }
    const inner = makeClient(ticket, options);
    while (inner.welcome === null && inner.step(until));
    if (inner.welcome === null) {
      const reason = inner.failure ?? (inner.open ? `no welcome within ${options.handshakeTimeoutS}s` : 'the server closed the connection before its welcome');
      inner.end();
      native.log('error', 'cable', `failed to connect: ${reason}`);
      return null;
    }
    return new Client(inner);
  };
  return { connect };
})
