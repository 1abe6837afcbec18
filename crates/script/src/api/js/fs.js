// Files of k6/experimental/fs. Each keeps its own place.
(function (native) {
  'use strict';
  const SeekMode = Object.freeze({ Start: 0, Current: 1, End: 2 });
  const failure = (name, message) => { const error = new Error(message); Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true }); return error; };
  class File {
    #held; #at = 0;
    constructor(held, path) {
      this.#held = held;
      this.path = path;
      Object.defineProperty(this, '\u0001held', { value: held });
    }
    async stat() { return { name: this.path.split('/').at(-1), size: native.len(this.#held) }; }
    async read(into) {
      if (!(into instanceof Uint8Array)) throw failure('TypeError', 'read() failed; reason: expected argument to be a Uint8Array');
      const size = native.len(this.#held);
      if (this.#at >= size) return null;
      const to = Math.min(size, this.#at + into.length);
      into.set(new Uint8Array(native.slice(this.#held, this.#at, to)));
      const count = to - this.#at;
      this.#at = to;
      return count;
    }
    async seek(offset, whence) {
      if (!Number.isInteger(offset)) throw failure('TypeError', 'seek() failed; reason: the offset argument is not a whole number');
      const size = native.len(this.#held);
      const start = { [SeekMode.Start]: 0, [SeekMode.Current]: this.#at, [SeekMode.End]: size }[whence];
      if (start === undefined) throw failure('TypeError', 'seek() failed; reason: the whence argument is not a SeekMode');
      const to = start + offset;
      if (to < 0 || to > size) throw failure('EOFError', 'seek() failed; reason: the offset is outside of the file');
      this.#at = to;
      return to;
    }
  }
  return {
    SeekMode,
    async open(path) {
      if (typeof path !== 'string' || path === '') throw failure('TypeError', 'open() failed; reason: path cannot be empty');
      return new File(native.open(path), path);
    },
  };
})
