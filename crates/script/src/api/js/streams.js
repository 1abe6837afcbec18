// Readable streams (WHATWG Streams, 4), default readers and controllers only.
(function () {
  'use strict';
  let inside;
  const later = () => { const it = {}; it.promise = new Promise((resolve, reject) => { it.resolve = resolve; it.reject = reject; }); return it; };
  const quiet = (promise) => { promise.catch(() => {}); return promise; };

  class CountQueuingStrategy {
    constructor(init) { if (init === null || typeof init !== 'object' || init.highWaterMark === undefined) throw new TypeError('highWaterMark is required'); this.highWaterMark = init.highWaterMark; }
    size() { return 1; }
  }

  class Controller {
    #stream;
    constructor(stream) { this.#stream = stream; }
    get desiredSize() { return inside(this.#stream).desired(); }
    enqueue(chunk) { inside(this.#stream).enqueue(chunk); }
    close() { inside(this.#stream).close(); }
    error(reason) { inside(this.#stream).fail(reason); }
  }

  class ReadableStream {
    #source; #controller; #size; #mark;
    #queue = []; #total = 0; #waiting = [];
    #state = 'readable'; #closing = false; #reason;
    #reader = null; #pulling = false; #again = false; #begun = false;
    static { inside = (stream) => stream.#inside(); }
    #inside() {
      return {
        desired: () => (this.#state === 'errored' ? null : this.#state === 'closed' ? 0 : this.#mark - this.#total),
        enqueue: (chunk) => this.#enqueue(chunk), close: () => this.#close(), fail: (reason) => this.#fail(reason),
        read: () => this.#read(), take: (reader) => { if (this.#reader) throw new TypeError('the stream is locked to another reader'); this.#reader = reader; },
        release: () => { this.#reader = null; const waiting = this.#waiting; this.#waiting = []; for (const it of waiting) it.reject(new TypeError('the reader was released')); },
        cancel: (reason) => this.#cancel(reason), state: () => this.#state, reason: () => this.#reason,
      };
    }
    constructor(source = {}, strategy = {}) {
      if (source === null || typeof source !== 'object') throw new TypeError('the underlying source is not an object');
      if (source.type !== undefined) throw new (source.type === 'bytes' ? Error : TypeError)(`a stream of type "${source.type}" is not supported`);
      const mark = strategy.highWaterMark === undefined ? 1 : Number(strategy.highWaterMark);
      if (Number.isNaN(mark) || mark < 0) throw new RangeError('invalid highWaterMark');
      if (strategy.size !== undefined && typeof strategy.size !== 'function') throw new TypeError('size is not a function');
      this.#source = source;
      this.#mark = mark;
      this.#size = strategy.size ? (chunk) => strategy.size.call(undefined, chunk) : () => 1;
      this.#controller = new Controller(this);
      const started = source.start ? source.start.call(source, this.#controller) : undefined;
      Promise.resolve(started).then(() => { this.#begun = true; this.#pull(); }, (reason) => this.#fail(reason));
    }
    get locked() { return this.#reader !== null; }
    #enqueue(chunk) {
      if (this.#state !== 'readable' || this.#closing) throw new TypeError('the stream is closed');
      if (this.#waiting.length) {
        this.#waiting.shift().resolve({ value: chunk, done: false });
      } else {
        let size;
        try { size = Number(this.#size(chunk)); } catch (error) { this.#fail(error); throw error; }
        if (!(size >= 0) || size === Infinity) { const error = new RangeError('invalid size of a chunk'); this.#fail(error); throw error; }
        this.#queue.push({ chunk, size });
        this.#total += size;
      }
      this.#pull();
    }
    #close() {
      if (this.#state !== 'readable' || this.#closing) throw new TypeError('the stream is closed');
      this.#closing = true;
      if (!this.#queue.length) this.#finish();
    }
    #finish() {
      this.#state = 'closed';
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const it of waiting) it.resolve({ value: undefined, done: true });
      if (this.#reader) settled(this.#reader).resolve(undefined);
    }
    #fail(reason) {
      if (this.#state !== 'readable') return;
      this.#state = 'errored';
      this.#reason = reason;
      this.#queue = [];
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const it of waiting) it.reject(reason);
      if (this.#reader) settled(this.#reader).reject(reason);
    }
    #pull() {
      const wanted = this.#begun && this.#state === 'readable' && !this.#closing && (this.#waiting.length > 0 || this.#mark - this.#total > 0);
      if (!wanted || !this.#source.pull) return;
      if (this.#pulling) { this.#again = true; return; }
      this.#pulling = true;
      let pulled;
      try { pulled = Promise.resolve(this.#source.pull.call(this.#source, this.#controller)); } catch (error) { pulled = Promise.reject(error); }
      pulled.then(() => { this.#pulling = false; if (this.#again) { this.#again = false; this.#pull(); } }, (reason) => this.#fail(reason));
    }
    #read() {
      if (this.#queue.length) {
        const { chunk, size } = this.#queue.shift();
        this.#total -= size;
        if (this.#closing && !this.#queue.length) this.#finish(); else this.#pull();
        return Promise.resolve({ value: chunk, done: false });
      }
      if (this.#state === 'closed') return Promise.resolve({ value: undefined, done: true });
      if (this.#state === 'errored') return Promise.reject(this.#reason);
      const it = later();
      this.#waiting.push(it);
      this.#pull();
      return it.promise;
    }
    async #cancel(reason) {
      if (this.#state === 'errored') throw this.#reason;
      if (this.#state === 'closed') return undefined;
      this.#queue = [];
      this.#total = 0;
      this.#finish();
      if (this.#source.cancel) await this.#source.cancel.call(this.#source, reason);
      return undefined;
    }
    getReader(options) {
      if (options?.mode !== undefined) throw new TypeError(`a reader of mode "${options.mode}" is not supported`);
      return new ReadableStreamDefaultReader(this);
    }
    cancel(reason) { return this.locked ? Promise.reject(new TypeError('the stream is locked')) : this.#cancel(reason); }
  }

  let settled;
  class ReadableStreamDefaultReader {
    #stream; #closed = later();
    static { settled = (reader) => reader.#closed; }
    constructor(stream) {
      if (!(stream instanceof ReadableStream)) throw new TypeError('a reader is of a ReadableStream');
      const it = inside(stream);
      it.take(this);
      this.#stream = it;
      quiet(this.#closed.promise);
      if (it.state() === 'closed') this.#closed.resolve(undefined);
      if (it.state() === 'errored') this.#closed.reject(it.reason());
    }
    get closed() { return this.#closed.promise; }
    read() { return this.#stream ? this.#stream.read() : Promise.reject(new TypeError('the reader was released')); }
    cancel(reason) { return this.#stream ? this.#stream.cancel(reason) : Promise.reject(new TypeError('the reader was released')); }
    releaseLock() {
      if (!this.#stream) return;
      this.#stream.release();
      this.#stream = null;
      this.#closed.reject(new TypeError('the reader was released'));
    }
  }
  return { ReadableStream, ReadableStreamDefaultReader, CountQueuingStrategy };
})
