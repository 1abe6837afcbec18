// k6/ws: connect() blocks until the socket is closed; what the script has set up is called meanwhile.
(function (native) {
  'use strict';
  const EVENTS = ['open', 'message', 'binaryMessage', 'ping', 'pong', 'close', 'error'];
  const paramsOf = (params) => {
    if (params == null) return {};
    if (typeof params !== 'object') throw new TypeError('invalid ws.connect() parameters');
    const { headers, tags, jar, compression } = params;
    return { headers, tags, jar, compression };
  };

  const socketOf = (ticket, url) => {
    const handlers = new Map(EVENTS.map((name) => [name, []]));
    const timers = [];
    const state = { closed: false, timers };
    const call = (name, ...values) => { for (const handler of handlers.get(name)) handler(...values); };
    const failure = (text) => { const error = new Error(text); return Object.assign(error, { error: () => text }); };
    const closed = (code) => { state.closed = true; call('close', code); };
    const setTimer = (what, handler, delay, every) => {
      if (typeof handler !== 'function') throw new TypeError(`socket.${what}() needs a function`);
      const time = Number(delay);
      if (!(time > 0)) throw new Error(`${what} requires a >0 timeout parameter, received ${time.toFixed(2)}`);
      timers.push({ due: native.now() + time, every: every ? time : 0, handler });
    };
    const send = (message) => { if (!state.closed) native.send(ticket, message); };
    state.socket = {
      on(name, handler) {
        if (typeof handler !== 'function') throw new TypeError('the handler of an event needs to be a function');
        if (handlers.has(name)) handlers.get(name).push(handler);
      },
      send(message) { send(String(message)); },
      sendBinary(message) {
        if (message == null) throw new TypeError('missing argument, expected ArrayBuffer');
        if (!(message instanceof ArrayBuffer)) throw new TypeError(`expected ArrayBuffer as argument, received: ${typeof message}`);
        send(message);
      },
      ping() { if (!state.closed) native.ping(ticket); },
      close(code) {
        if (state.closed) return;
        const number = code === undefined ? 1001 : Number(code);
        native.drop(ticket, number);
        closed(number);
      },
      setTimeout(handler, delay) { setTimer('setTimeout', handler, delay, false); },
      setInterval(handler, delay) { setTimer('setInterval', handler, delay, true); },
    };
    state.call = call;
    state.handle = (event) => {
      if (typeof event === 'string') return call('message', event);
      if (event instanceof ArrayBuffer) return call('binaryMessage', event);
      const [name, first] = event;
      if (name === 'error') return call('error', failure(first));
      if (name === 'close') return closed(first);
      return call(name);
    };
    return state;
  };

  // The first timer that is due runs; one that repeats waits for its next time before.
  const runTimer = (timers, now) => {
    let first = null;
    for (const timer of timers) if (!first || timer.due < first.due) first = timer;
    if (!first || first.due > now) return;
    if (first.every) first.due += first.every; else timers.splice(timers.indexOf(first), 1);
    first.handler();
  };

  const connect = (url, ...rest) => {
    const [params, setup] = rest.length > 1 ? rest : [null, rest[0]];
    if (typeof setup !== 'function') throw new TypeError('last argument to ws.connect must be a function');
    const [ticket, [name, answer, why]] = native.open({ url: String(url), ...paramsOf(params) });
    // k6 names the URL of a socket that came to be alone.
    const response = { url: name === 'refused' ? '' : String(url), status: answer.status, headers: answer.headers, body: answer.body, error: answer.error };
    if (name === 'refused') {
      native.drop(ticket, 1001);
      if (native.throws()) throw new Error(why);
      native.warn('Attempt to establish a WebSocket connection failed', why);
      return response;
    }
    const state = socketOf(ticket, url);
    try {
      setup(state.socket);
      state.call('open');
      while (!state.closed) {
        const due = state.timers.reduce((first, timer) => Math.min(first, timer.due), Infinity);
        const event = native.next(ticket, due === Infinity ? null : due);
        if (event === undefined) runTimer(state.timers, native.now()); else state.handle(event);
      }
    } catch (error) {
      if (!state.closed) native.drop(ticket, 1001);
      throw error;
    }
    return response;
  };
  return { connect };
})
