// Clients of k6/net/grpc: what they may be given, in k6's words, and what a response is. The calls themselves are native.
(function (native) {
  'use strict';
  const NAMES = [
    'OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists', 'PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted',
    'OutOfRange', 'Unimplemented', 'Internal', 'Unavailable', 'DataLoss', 'Unauthenticated',
  ];
  // As in k6 a status is an object: it has its number as value and in JSON, and its name as text.
  class Code {
    #number; #name;
    constructor(number, name) { this.#number = number; this.#name = name; Object.freeze(this); }
    valueOf() { return this.#number; }
    toString() { return this.#name; }
    string() { return this.#name; }
    toJSON() { return this.#number; }
    [Symbol.toPrimitive](hint) { return hint === 'string' ? this.#name : this.#number; }
  }
  // k6 writes "1" after `status + ''` too; a template has the name.
  const CODES = NAMES.map((name, number) => new Code(number, name));
  const codeOf = (number) => CODES[number] ?? new Code(number, `Code(${number})`);
  const HEALTH = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'].map((name, number) => new Code(number, name));

  const isObject = (value) => value !== null && typeof value === 'object';
  const fail = (text) => { throw new Error(text); };

  // The kinds of values as Go prints their types.
  const goType = (value) => (Array.isArray(value) ? '[]interface {}' : typeof value === 'boolean' ? 'bool' : isObject(value) ? 'map[string]interface {}' : typeof value);
  const goValue = (value) => {
    if (Array.isArray(value)) return `[]interface {}{${value.map(goValue).join(', ')}}`;
    if (isObject(value)) return `map[string]interface {}{${Object.keys(value).map((key) => `${JSON.stringify(key)}:${goValue(value[key])}`).join(', ')}}`;
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  };
  const timeOf = (value) => {
    if (typeof value === 'number') return value;
    if (typeof value !== 'string') fail(`invalid timeout value: unable to use type ${goType(value)} as a duration value`);
    const milliseconds = native.milliseconds(value);
    return milliseconds ?? fail(`invalid timeout value: time: invalid duration ${JSON.stringify(value)}`);
  };
  // Names and values one after the other, binary ones as they go over the wire.
  const metadataOf = (given, what) => {
    if (given === undefined || given === null) return [];
    if (!isObject(given)) fail(`invalid ${what} param: must be an object with key-value pairs`);
    const all = [];
    for (const name of Object.keys(given)) {
      const value = given[name];
      if (name.toLowerCase().endsWith('-bin')) {
        if (!(value instanceof Uint8Array)) fail(`invalid ${what} param: ${JSON.stringify(name)} value must be binary`);
        all.push(name, native.binary(value));
      } else {
        if (typeof value !== 'string') fail(`invalid ${what} param: ${JSON.stringify(name)} value must be a string`);
        all.push(name, value);
      }
    }
    return all;
  };
  const keysOf = (given) => (given === undefined || given === null || (typeof given !== 'object' && typeof given !== 'string') ? [] : Object.keys(given));

  const typed = (name, value, type, words) => {
    if (typeof value !== type) fail(`invalid ${name} value: '${goValue(value)}', it needs to be ${words}`);
    return value;
  };
  const sizeOf = (name, value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) fail(`invalid ${name} value: '${goValue(value)}', it needs to be an integer`);
    if (value < 0) fail(`invalid ${name} value: '${value}, it needs to be a positive integer`);
    return value;
  };
  const tlsOf = (given) => {
    if (!isObject(given) || Array.isArray(given)) fail(`invalid tls value: '${goValue(given)}', expected (optional) keys: cert, key, password, and cacerts`);
    for (const [name, words] of [['cert', 'a PEM formatted string'], ['key', 'a PEM formatted string'], ['password', 'a string']]) {
      if (given[name] !== undefined && typeof given[name] !== 'string') fail(`invalid tls ${name} value: '${goValue(given)}', it needs to be ${words}`);
    }
    const { cacerts } = given;
    const isList = Array.isArray(cacerts) && cacerts.every((one) => typeof one === 'string');
    if (cacerts !== undefined && typeof cacerts !== 'string' && !isList) fail(`invalid tls cacerts value: '${goValue(given)}', it needs to be a string or an array of PEM formatted strings`);
    return given;
  };
  const CONNECT = {
    plaintext: (value, into) => { into.plaintext = typed('plaintext', value, 'boolean', 'boolean'); },
    timeout: (value, into) => { into.timeoutMs = timeOf(value); },
    reflect: (value, into) => { into.reflect = typed('reflect', value, 'boolean', 'boolean'); },
    reflectMetadata: (value, into) => { into.reflectMetadata = metadataOf(value, 'reflectMetadata'); },
    maxReceiveSize: (value, into) => { into.receiveMax = sizeOf('maxReceiveSize', value); },
    maxSendSize: (value, into) => { into.sendMax = sizeOf('maxSendSize', value); },
    authority: (value, into) => { into.authority = typed('authority', value, 'string', 'a string'); },
    tls: (value, into) => { into.tls = tlsOf(value); },
  };
  const connectParams = (given) => {
    const params = { plaintext: false, timeoutMs: 60000, reflect: false, reflectMetadata: [], receiveMax: 0, sendMax: 0, authority: '' };
    for (const name of keysOf(given)) {
      if (!Object.hasOwn(CONNECT, name)) fail(`unknown connect param: ${JSON.stringify(name)}`);
      if (given[name] !== undefined) CONNECT[name](given[name], params);
    }
    return params;
  };
  const tagsOf = (given) => {
    if (!isObject(given)) return {};
    for (const name of Object.keys(given)) {
      if (!['string', 'number', 'boolean'].includes(typeof given[name])) {
        fail(`metric tags: invalid value for metric tag '${name}': only String, Boolean and Number types are accepted as a metric tag values`);
      }
    }
    return given;
  };
  const callParams = (given, defaultMs) => {
    const params = { metadata: [], tags: {}, timeoutMs: defaultMs, discards: false };
    for (const name of keysOf(given)) {
      const value = given[name];
      if (name === 'metadata') params.metadata = metadataOf(value, 'metadata');
      else if (name === 'tags') params.tags = tagsOf(value);
      else if (name === 'timeout') params.timeoutMs = (value === undefined || value === null ? 0 : timeOf(value)) || defaultMs;
      else if (name === 'discardResponseMessage') params.discards = value === true;
      else fail(`unknown param: ${JSON.stringify(name)}`);
    }
    return params;
  };
  const within = (what, read) => {
    try { return read(); } catch (error) { throw new Error(`invalid ${what} parameters: ${error.message}`); }
  };

  // What JSON has no numbers for goes as text.
  const normal = (value, above) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (!isObject(value) || typeof value.toJSON === 'function') return value;
    if (above.includes(value)) fail('unable to normalize number strings: cyclic reference to an object found');
    const inside = [...above, value];
    if (Array.isArray(value)) return value.map((one) => normal(one, inside));
    const copy = {};
    for (const key of Object.keys(value)) copy[key] = normal(value[key], inside);
    return copy;
  };
  const jsonOf = (request) => {
    if (request === undefined) fail('request cannot be nil');
    if (request === null) throw new TypeError('Cannot convert undefined or null to object');
    return JSON.stringify(normal(request, []));
  };
  const pathOf = (method) => {
    const text = String(method);
    if (text === '') fail('method to invoke cannot be empty');
    return text.startsWith('/') ? text : `/${text}`;
  };
  const responseOf = ({ code, message, error, headers, trailers }) => ({
    status: codeOf(code),
    message: message === undefined ? null : JSON.parse(message),
    headers,
    trailers,
    error: error === undefined ? null : JSON.parse(error),
  });

  let heldOf;
  class Client {
    #held = native.client();
    static { heldOf = (client) => (isObject(client) && #held in client ? client.#held : fail('not a gRPC client')); }
    load(importPaths, ...files) {
      native.requireInit();
      const paths = (importPaths ?? []).map((path) => String(path).replace(/^file:\/\//, ''));
      return JSON.parse(native.load(this.#held, paths.length > 0 ? paths : [''], files.map(String)));
    }
    loadProtoset(path) {
      native.requireInit();
      return JSON.parse(native.loadProtoset(this.#held, String(path)));
    }
    connect(address, params) {
      native.requireStarted('connecting to a gRPC server');
      const read = within('grpc.connect()', () => connectParams(params));
      native.connect(this.#held, String(address), read);
      return true;
    }
    #prepare(method, request, params) {
      native.requireStarted('invoking RPC methods');
      native.requireConnected(this.#held);
      const path = pathOf(method);
      native.requireMethod(this.#held, path);
      const json = jsonOf(request);
      return [path, json, within("GRPC's client.invoke()", () => callParams(params, 120000))];
    }
    invoke(method, request, params) {
      return responseOf(native.invoke(this.#held, ...this.#prepare(method, request, params)));
    }
    asyncInvoke(method, request, params) {
      try {
        return native.start(this.#held, ...this.#prepare(method, request, params)).then(responseOf);
      } catch (error) {
        return Promise.reject(error);
      }
    }
    healthCheck(service) {
      native.requireStarted('invoking RPC methods');
      native.requireConnected(this.#held);
      const number = native.health(this.#held, service === undefined || service === null ? '' : String(service));
      return { status: HEALTH[number] ?? new Code(number, String(number)) };
    }
    close() { native.close(this.#held); }
  }

  const EVENTS = ['data', 'error', 'end', 'status'];
  // As Go's type has a method `Error`, there is a function beside its fields.
  const errorOf = (code, message, details) => ({ code: codeOf(code), details, message, error: () => message });

  class Stream {
    #handlers = new Map(EVENTS.map((name) => [name, []]));
    #held;
    // Whether the script may write, and whether it gets messages: each ends once.
    #writes = true; #reads = true;
    constructor(client, method, params) {
      const of = (what, read) => { try { return read(); } catch (error) { return fail(`invalid GRPC Stream's ${what}: ${error.message}`); } };
      const held = of('client', () => { native.requireConnected(heldOf(client)); return heldOf(client); });
      const path = of('method', () => { const text = pathOf(method); native.requireMethod(held, text); return text; });
      const read = of('parameters', () => callParams(params, 0));
      this.#held = native.stream(held, path, read, (event, ...values) => this.#happened(event, ...values));
    }
    on(name, handler) {
      if (typeof handler !== 'function') fail(`handler for ${JSON.stringify(String(name))} event isn't a callable function`);
      const list = this.#handlers.get(String(name));
      if (list === undefined) native.warn(`can't register ${name} event handler: unknown GRPC stream's event type: ${name}`);
      else list.push(handler);
    }
    write(message) {
      if (message === undefined || message === null) return native.warn("can't send empty message");
      if (!this.#writes) return undefined;
      const wrong = native.write(this.#held, JSON.stringify(message) ?? 'null');
      if (wrong !== undefined && wrong !== null) this.#giveUp(wrong[0], wrong[1]);
      return undefined;
    }
    end() {
      if (!this.#writes) return;
      this.#writes = false;
      native.endStream(this.#held);
    }
    #happened(event, ...values) {
      if (event === 'data') this.#message(JSON.parse(values[0]));
      else if (event === 'unread') this.#giveUp(values[0], values[1]);
      else if (event === 'error') this.#failed(errorOf(values[0], values[1], JSON.parse(values[2])));
      else {
        this.#writes = this.#reads = false;
        this.#tell('end', {});
      }
    }
    #message(message) {
      const meta = { ts: native.unixSeconds() };
      for (const handler of this.#handlers.get('data')) {
        if (!this.#reads) return;
        try { handler(message, meta); } catch (error) { return this.#giveUp(2, native.thrown(error)); }
      }
    }
    #failed(error) {
      this.#writes = this.#reads = false;
      if (this.#handlers.get('error').length === 0) native.warn(`no handlers for error registered, but an error happened: ${error.message}`);
      this.#tell('error', error);
    }
    #tell(name, value) {
      const meta = { ts: native.unixSeconds() };
      for (const handler of this.#handlers.get(name)) handler(value, meta);
    }
    // The call ends for us; what the server still sends is not looked at.
    #giveUp(code, text) {
      native.cancelStream(this.#held);
      this.#failed(errorOf(code, text, null));
    }
  }

  const all = { Client, Stream };
  NAMES.forEach((name, number) => { all[`Status${name}`] = CODES[number]; });
  ['HealthCheckUnknown', 'HealthCheckServing', 'HealthCheckNotServing', 'HealthCheckServiceUnkown'].forEach((name, number) => { all[name] = HEALTH[number]; });
  return all;
})
