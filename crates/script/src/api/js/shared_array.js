// Makes the array that scripts see of elements that all VUs share: it cannot be changed, and each read parses anew.
(function (element) {
  'use strict';
  const immutable = () => { throw new TypeError('SharedArray is immutable'); };
  const frozen = (value) => {
    if (value !== null && typeof value === 'object') {
      for (const key of Object.keys(value)) frozen(value[key]);
      Object.freeze(value);
    }
    return value;
  };
  const index = (key) => (typeof key === 'string' && /^(?:0|[1-9][0-9]*)$/.test(key) ? Number(key) : -1);
  return function (elements, length) {
    const at = (i) => frozen(element(elements, i));
    return new Proxy([], {
      get(target, key, receiver) {
        if (key === 'length') return length;
        if (key === '\u0001shared') return true;
        const i = index(key);
        if (i < 0) return Reflect.get(target, key, receiver);
        return i < length ? at(i) : undefined;
      },
      has(target, key) {
        const i = index(key);
        return i < 0 ? Reflect.has(target, key) : i < length;
      },
      ownKeys() {
        const keys = [];
        for (let i = 0; i < length; i++) keys.push(String(i));
        keys.push('length');
        return keys;
      },
      getOwnPropertyDescriptor(target, key) {
        if (key === 'length') return { value: length, writable: true, enumerable: false, configurable: false };
        const i = index(key);
        if (i < 0 || i >= length) return undefined;
        return { value: at(i), writable: true, enumerable: true, configurable: true };
      },
      set(target, key) {
        if (key === 'length' || index(key) >= 0) immutable();
        throw new TypeError(`Cannot set property "${String(key)}" on a dynamic array`);
      },
      defineProperty: immutable,
      deleteProperty: immutable,
      setPrototypeOf: immutable,
      preventExtensions() { throw new TypeError('Cannot make a dynamic object non-extensible'); },
    });
  };
})
