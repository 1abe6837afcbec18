// The global `crypto`: what the standard wants of arguments and keys. What computes is native.
(function (native) {
  'use strict';
  const failure = (name, message) => { const error = new Error(message); Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true }); return error; };
  const fail = (name, message) => { throw failure(name, message); };
  const isBuffer = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);
  const bufferOf = (value, what) => (isBuffer(value) ? value : fail('TypeError', `${what} is not an ArrayBuffer, a typed array or a DataView`));
  const NAMES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'HMAC', 'AES-CBC', 'AES-CTR', 'AES-GCM', 'ECDSA', 'ECDH', 'RSASSA-PKCS1-v1_5', 'RSA-PSS', 'RSA-OAEP', 'PBKDF2'];
  const HASHES = NAMES.slice(0, 4);
  const RSA = ['RSASSA-PKCS1-v1_5', 'RSA-PSS', 'RSA-OAEP'];
  const CURVES = ['P-256', 'P-384', 'P-521'];
  const normal = (algorithm, operation, allowed = NAMES) => {
    const given = typeof algorithm === 'string' ? { name: algorithm } : algorithm;
    if (given === null || typeof given !== 'object' || typeof given.name !== 'string') fail('SyntaxError', 'algorithm name is not a string');
    const name = allowed.find((known) => known.toUpperCase() === given.name.toUpperCase());
    if (!name) fail('NotSupportedError', `algorithm "${given.name}" doesn't support (in implementation) operation "${operation}"`);
    return { ...given, name };
  };
  const hashOf = (algorithm) => normal(algorithm.hash ?? fail('TypeError', 'the algorithm has no hash'), 'digest', HASHES).name;
  const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
  const usable = (usages, allowed) => {
    if (!Array.isArray(usages)) fail('TypeError', 'keyUsages is not an array');
    for (const usage of usages) if (!USAGES.includes(usage) || !allowed.includes(usage)) fail('SyntaxError', 'invalid key usage');
    return USAGES.filter((usage) => usages.includes(usage));
  };

  let made;
  let inner;
  class CryptoKey {
    #held;
    static {
      made = (held, type, extractable, algorithm, usages) => {
        return Object.assign(CryptoKey.#fill(held), { type, extractable: Boolean(extractable), algorithm, usages });
      };
      inner = (key) => (key !== null && typeof key === 'object' && #held in key ? key.#held : fail('TypeError', 'it is not a CryptoKey'));
    }
    static #fill(held) { const key = new CryptoKey(); key.#held = held; return key; }
    get [Symbol.toStringTag]() { return 'CryptoKey'; }
  }
  const used = (key, algorithm, usage) => {
    const held = inner(key);
    if (key.algorithm.name !== algorithm.name) fail('InvalidAccessError', `${usage}'s algorithm name does not match key algorithm name`);
    if (!key.usages.includes(usage)) fail('InvalidAccessError', `${usage}'s key does not contain the '${usage}' usage`);
    return held;
  };
  const ALLOWED = {
    'AES-CBC': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], 'AES-CTR': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], 'AES-GCM': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
    HMAC: ['sign', 'verify'], PBKDF2: ['deriveKey', 'deriveBits'],
    ECDSA: { private: ['sign'], public: ['verify'] }, ECDH: { private: ['deriveKey', 'deriveBits'], public: [] },
    'RSASSA-PKCS1-v1_5': { private: ['sign'], public: ['verify'] }, 'RSA-PSS': { private: ['sign'], public: ['verify'] },
    'RSA-OAEP': { private: ['decrypt', 'unwrapKey'], public: ['encrypt', 'wrapKey'] },
  };
  const blockBits = (hash) => (hash === 'SHA-384' || hash === 'SHA-512' ? 1024 : 512);
  const whole = (value, name) => { const number = Number(value); return Number.isInteger(number) && number >= 0 ? number : fail('TypeError', `${name} is not a whole number`); };
  const keyLength = (algorithm) => {
    switch (algorithm.name) {
      case 'HMAC': { const bits = algorithm.length === undefined ? blockBits(hashOf(algorithm)) : whole(algorithm.length, 'length'); return bits > 0 ? bits : fail('OperationError', 'invalid key length'); }
      case 'PBKDF2': return null;
      // A text is a number, as WebIDL converts it.
      default: { const bits = Math.trunc(Number(algorithm.length)); return [128, 192, 256].includes(bits) ? bits : fail('OperationError', 'invalid key length'); }
    }
  };
  const described = (algorithm, bits) => (algorithm.name === 'HMAC'
    ? { name: 'HMAC', hash: { name: hashOf(algorithm) }, length: bits } : { name: algorithm.name, length: bits });
  const notEmpty = (usages) => (usages.length ? usages : fail('SyntaxError', 'usages cannot not be empty for a secret or private CryptoKey'));

  const pairOf = (algorithm, extractable, usages) => {
    const allowed = ALLOWED[algorithm.name];
    usable(usages, [...allowed.private, ...allowed.public]);
    let description;
    if (RSA.includes(algorithm.name)) {
      const exponent = bufferOf(algorithm.publicExponent, 'publicExponent');
      description = { name: algorithm.name, modulusLength: whole(algorithm.modulusLength, 'modulusLength'), publicExponent: exponent, hash: { name: hashOf(algorithm) } };
    } else {
      if (!CURVES.includes(algorithm.namedCurve)) fail('NotSupportedError', `elliptic curve ${algorithm.namedCurve} is not supported`);
      description = { name: algorithm.name, namedCurve: algorithm.namedCurve };
    }
    const own = notEmpty(usable(usages.filter((usage) => allowed.private.includes(usage)), allowed.private));
    const [privateKey, publicKey] = native.generate(description);
    return {
      privateKey: made(privateKey, 'private', extractable, description, own),
      publicKey: made(publicKey, 'public', true, description, usable(usages.filter((usage) => allowed.public.includes(usage)), allowed.public)),
    };
  };

  const padded = (text) => text + '='.repeat((4 - (text.length % 4)) % 4);
  const ofBase64url = (text) => Uint8Array.from(globalThis.atob(padded(String(text).replace(/-/g, '+').replace(/_/g, '/'))), (c) => c.charCodeAt(0));
  const toBase64url = (bytes) => globalThis.btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const jwkAlgorithm = (key, bits) => (key.algorithm.name === 'HMAC' ? 'HS' + key.algorithm.hash.name.slice(4) : `A${bits}${key.algorithm.name.slice(4)}`);
  const JWK = { 'RSASSA-PKCS1-v1_5': 'RS', 'RSA-PSS': 'PS', 'RSA-OAEP': 'RSA-OAEP' };

  const importSecret = (format, data, algorithm, extractable, usages) => {
    let bytes;
    if (format === 'raw') {
      bytes = bufferOf(data, 'keyData');
    } else if (format === 'jwk' && algorithm.name !== 'PBKDF2') {
      if (data === null || typeof data !== 'object' || data.kty !== 'oct' || typeof data.k !== 'string') fail('DataError', 'invalid JWK');
      bytes = ofBase64url(data.k);
      if (data.ext === false && extractable) fail('DataError', 'the JWK is not extractable');
    } else {
      fail('NotSupportedError', `unsupported format ${format}`);
    }
    const bits = bytes.byteLength * 8;
    if (algorithm.name === 'PBKDF2') {
      if (extractable) fail('SyntaxError', 'a PBKDF2 key cannot be extractable');
      return made(native.secret(bytes), 'secret', false, { name: 'PBKDF2' }, notEmpty(usable(usages, ALLOWED.PBKDF2)));
    }
    if (algorithm.name === 'HMAC' ? bits === 0 : ![128, 192, 256].includes(bits)) fail('DataError', `invalid key length ${bytes.byteLength} bytes`);
    return made(native.secret(bytes), 'secret', extractable, described(algorithm, bits), notEmpty(usable(usages, ALLOWED[algorithm.name])));
  };
  const importPair = (format, data, algorithm, extractable, usages) => {
    const rsa = RSA.includes(algorithm.name);
    const formats = rsa ? ['spki', 'pkcs8', 'jwk'] : ['raw', 'spki', 'pkcs8', 'jwk'];
    if (!formats.includes(format)) fail('NotSupportedError', `unsupported format ${format}`);
    if (!rsa && !CURVES.includes(algorithm.namedCurve)) fail('NotSupportedError', `elliptic curve ${algorithm.namedCurve} is not supported`);
    if (format !== 'jwk') bufferOf(data, 'keyData');
    const isPrivate = format === 'pkcs8' || (format === 'jwk' && data !== null && typeof data === 'object' && data.d !== undefined);
    const type = isPrivate ? 'private' : 'public';
    const allowed = usable(usages, ALLOWED[algorithm.name][type]);
    const held = native.read(format, rsa ? null : algorithm.namedCurve, data);
    const description = rsa ? { name: algorithm.name, hash: { name: hashOf(algorithm) } } : { name: algorithm.name, namedCurve: algorithm.namedCurve };
    if (rsa) {
      const fields = native.write('jwk', held);
      description.modulusLength = ofBase64url(fields.n).length * 8;
      description.publicExponent = ofBase64url(fields.e);
    }
    return made(held, type, isPrivate ? extractable : Boolean(extractable), description, isPrivate ? notEmpty(allowed) : allowed);
  };
  const derived = (algorithm, key, usage, wanted) => {
    const held = used(key, algorithm, usage);
    const bits = wanted === null || wanted === undefined ? wanted : whole(wanted, 'length');
    if (algorithm.name === 'PBKDF2') {
      const iterations = whole(algorithm.iterations, 'iterations');
      if (iterations === 0) fail('OperationError', "number of iterations can't be 0");
      if (bits === null || bits === undefined || bits % 8 !== 0) fail('OperationError', 'currently only multiples of 8 are supported for length');
      return native.derive({ salt: bufferOf(algorithm.salt, 'salt'), iterations, hash: hashOf(algorithm) }, held, null, bits);
    }
    const shared = native.derive({}, held, inner(algorithm.public), 0);
    if (bits === null || bits === undefined) return shared;
    if (bits > shared.byteLength * 8) fail('OperationError', 'length is too large');
    if (bits % 8 !== 0) fail('OperationError', 'currently only multiples of 8 are supported for length');
    return shared.slice(0, bits / 8);
  };
  const ciphered = (encrypts, algorithm, key, data) => {
    const usage = encrypts ? 'encrypt' : 'decrypt';
    const it = normal(algorithm, usage, ['AES-CBC', 'AES-CTR', 'AES-GCM', 'RSA-OAEP']);
    const held = used(key, it, usage);
    bufferOf(data, 'data');
    const empty = new ArrayBuffer(0);
    const fields = { name: it.name, iv: empty, counter: empty, additionalData: empty, label: empty };
    switch (it.name) {
      case 'AES-CBC':
        if (bufferOf(it.iv, 'iv').byteLength !== 16) fail('OperationError', 'iv length is not 16 bytes');
        return native.cipher(encrypts, { ...fields, iv: it.iv }, held, data);
      case 'AES-CTR': return native.cipher(encrypts, { ...fields, counter: bufferOf(it.counter, 'counter'), length: whole(it.length, 'length') }, held, data);
      case 'AES-GCM':
        return native.cipher(encrypts, { ...fields, iv: bufferOf(it.iv, 'iv'), additionalData: it.additionalData === undefined ? empty : bufferOf(it.additionalData, 'additionalData'), tagLength: it.tagLength === undefined ? 128 : whole(it.tagLength, 'tagLength') }, held, data);
      default: return native.cipher(encrypts, { ...fields, hash: key.algorithm.hash.name, label: it.label === undefined ? empty : bufferOf(it.label, 'label') }, held, data);
    }
  };
  const signing = (algorithm, key, usage) => {
    const it = normal(algorithm, usage, ['HMAC', 'ECDSA', 'RSASSA-PKCS1-v1_5', 'RSA-PSS']);
    const held = used(key, it, usage);
    const hash = it.name === 'ECDSA' ? hashOf(it) : key.algorithm.hash.name;
    return [{ name: it.name, hash, saltLength: it.name === 'RSA-PSS' ? whole(it.saltLength, 'saltLength') : 0 }, held];
  };

  const subtle = {
    async digest(algorithm, data) {
      const { name } = normal(algorithm, 'digest', HASHES);
      return native.digest(name, bufferOf(data, 'data'));
    },
    async generateKey(algorithm, extractable, usages) {
      const it = normal(algorithm, 'generateKey', NAMES.slice(4, 13));
      if (ALLOWED[it.name].private) return pairOf(it, extractable, usages);
      const bits = keyLength(it);
      const allowed = notEmpty(usable(usages, ALLOWED[it.name]));
      return made(native.secret(native.random(Math.ceil(bits / 8))), 'secret', extractable, described(it, bits), allowed);
    },
    async importKey(format, data, algorithm, extractable, usages) {
      const it = normal(algorithm, 'importKey', NAMES.slice(4));
      return ALLOWED[it.name].private ? importPair(format, data, it, extractable, usages) : importSecret(format, data, it, extractable, usages);
    },
    async exportKey(format, key) {
      const held = inner(key);
      if (!key.extractable) fail('InvalidAccessError', 'the key is not extractable');
      const { name } = key.algorithm;
      if (key.type === 'secret') {
        const bytes = native.bytes(held);
        if (format === 'raw') return bytes;
        if (format !== 'jwk') fail('NotSupportedError', `unsupported format ${format}`);
        return { k: toBase64url(bytes), kty: 'oct', ext: key.extractable, key_ops: key.usages, alg: jwkAlgorithm(key, bytes.byteLength * 8) };
      }
      if (format === 'jwk') {
        const fields = { ...native.write('jwk', held), ext: key.extractable, key_ops: key.usages };
        if (JWK[name]) fields.alg = name === 'RSA-OAEP' ? (key.algorithm.hash.name === 'SHA-1' ? 'RSA-OAEP' : `RSA-OAEP-${key.algorithm.hash.name.slice(4)}`) : JWK[name] + key.algorithm.hash.name.slice(4);
        return fields;
      }
      const formats = { private: ['pkcs8'], public: RSA.includes(name) ? ['spki'] : ['spki', 'raw'] }[key.type];
      if (!formats.includes(format)) fail('InvalidAccessError', `a ${key.type} key cannot be exported as ${format}`);
      return native.write(format, held);
    },
    async encrypt(algorithm, key, data) { return ciphered(true, algorithm, key, data); },
    async decrypt(algorithm, key, data) { return ciphered(false, algorithm, key, data); },
    async sign(algorithm, key, data) { const [it, held] = signing(algorithm, key, 'sign'); return native.sign(it, held, bufferOf(data, 'data')); },
    async verify(algorithm, key, signature, data) {
      const [it, held] = signing(algorithm, key, 'verify');
      return native.verify(it, held, bufferOf(signature, 'signature'), bufferOf(data, 'data'));
    },
    async deriveBits(algorithm, key, length) { return derived(normal(algorithm, 'deriveBits', ['PBKDF2', 'ECDH']), key, 'deriveBits', length); },
    async deriveKey(algorithm, key, wanted, extractable, usages) {
      const it = normal(algorithm, 'deriveKey', ['PBKDF2', 'ECDH']);
      const to = normal(wanted, 'importKey', ['HMAC', 'AES-CBC', 'AES-CTR', 'AES-GCM']);
      return importSecret('raw', derived(it, key, 'deriveKey', keyLength(to)), to, extractable, usages);
    },
    async wrapKey() { fail('NotSupportedError', 'wrapKey is not supported'); },
    async unwrapKey() { fail('NotSupportedError', 'unwrapKey is not supported'); },
  };
  const INTEGERS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
  return {
    getRandomValues(array) {
      if (!INTEGERS.some((kind) => array instanceof kind)) fail('TypeMismatchError', "typedArray parameter isn't a TypedArray instance");
      if (array.byteLength > 65536) fail('QuotaExceededError', 'typedArray parameter is too big; maximum length is 65536');
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(native.random(array.byteLength)));
      return array;
    },
    randomUUID() {
      const bytes = new Uint8Array(native.random(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    subtle,
    CryptoKey,
  };
})
