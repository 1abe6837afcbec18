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

  // Calls what waits for an event. Messages come often: nothing is made for one but its value.
  const callEach = (handlers, value) => {
    for (let at = 0; at < handlers.length; at++) {
      const handler = handlers[at];
      handler(value);
    }
  };
  const callBare = (handlers) => { for (const handler of handlers) handler(); };

  const socketOf = (ticket) => {
    const handlers = new Map(EVENTS.map((name) => [name, []]));
    const messages = handlers.get('message');
    const timers = [];
    // When the first timer is due; null without timers.
    const state = { closed: false, timers, due: null };
    const failure = (text) => { const error = new Error(text); return Object.assign(error, { error: () => text }); };
    const closed = (code) => { state.closed = true; callEach(handlers.get('close'), code); };
    const setTimer = (what, handler, delay, every) => {
      if (typeof handler !== 'function') throw new TypeError(`socket.${what}() needs a function`);
      const time = Number(delay);
      if (!(time > 0)) throw new Error(`${what} requires a >0 timeout parameter, received ${time.toFixed(2)}`);
      const due = native.now() + time;
      timers.push({ due, every: every ? time : 0, handler });
      if (due < (state.due ?? Infinity)) state.due = due;
    };
    const send = (message) => { if (!state.closed) native.send(ticket, message); };
    state.socket = {
      on(name, handler) {
        if (typeof handler !== 'function') throw new TypeError('the handler of an event needs to be a function');
        if (handlers.has(name)) handlers.get(name).push(handler);
      },
      send(message) { send(typeof message === 'string' ? message : String(message)); },
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
    state.opened = () => callBare(handlers.get('open'));
    state.handle = (event) => {
      if (typeof event === 'string') return callEach(messages, event);
      if (event instanceof ArrayBuffer) return callEach(handlers.get('binaryMessage'), event);
      const [name, first] = event;
      if (name === 'error') return callEach(handlers.get('error'), failure(first));
      if (name === 'close') return closed(first);
      return callBare(handlers.get(name));
    };
    return state;
  };

  const firstDue = (timers) => {
    let due = Infinity;
    for (const timer of timers) if (timer.due < due) due = timer.due;
    return due === Infinity ? null : due;
  };

  // The first timer that is due runs; one that repeats waits for its next time before.
  const runTimer = (state, now) => {
    const { timers, due } = state;
    if (due === null || due > now) return;
    const first = timers.find((timer) => timer.due === due);
    if (first.every) first.due += first.every; else timers.splice(timers.indexOf(first), 1);
    state.due = firstDue(timers);
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
    const state = socketOf(ticket);
    try {
      setup(state.socket);
      state.opened();
      while (!state.closed) {
        const event = native.next(ticket, state.due);
        if (event === undefined) runTimer(state, native.now()); else state.handle(event);
      }
    } catch (error) {
      if (!state.closed) native.drop(ticket, 1001);
      throw error;
    }
    return response;
  };
  return { connect };
})
