// What scripts import from https://jslib.k6.io/http-instrumentation-tempo/*: requests that carry a trace's context, and samples
// that have its number as metadata.
import exec from 'k6/execution';
import { InstrumentedClient, instrument } from 'brunt:instrumented-http';

// How k6's traces are recognised, and where the run is: in k6's cloud or here.
const PREFIX = 0o756n;
const CODES = { cloud: 12n, local: 33n };

const hex = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
const random = (length) => Array.from({ length }, () => Math.floor(Math.random() * 256));

// A signed number in groups of seven bits, the lowest first (zigzag).
function varint(number) {
  const bytes = [];
  let rest = number * 2n;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}
// 16 bytes: k6's mark, where the run is, the time in nanoseconds, and chance.
function traceNumber() {
  const code = __ENV.K6_CLOUDRUN_TEST_RUN_ID ? CODES.cloud : CODES.local;
  const time = BigInt(Date.now()) * 1000000n;
  const known = [...varint(PREFIX), ...varint(code), ...varint(time)];
  return hex([...known, ...random(16 - known.length)]);
}

const PROPAGATORS = {
  // https://www.w3.org/TR/trace-context/
  w3c: (trace, isSampled) => ({ Traceparent: `00-${trace}-${hex(random(8))}-${isSampled ? '01' : '00'}` }),
  // https://www.jaegertracing.io/docs/1.21/client-libraries/#propagation-format
  jaeger: (trace, isSampled) => ({ 'Uber-Trace-Id': `${trace}:${hex(random(8))}:0:${isSampled ? '1' : '0'}` }),
};

export class Client extends InstrumentedClient {
  constructor(options) {
    const { propagator = 'w3c', sampling = 1 } = options || {};
    const headers = PROPAGATORS[propagator];
    if (!headers) throw new Error(`unknown propagator: ${propagator}; there are w3c and jaeger`);
    if (!(sampling >= 0 && sampling <= 1)) throw new Error(`sampling rate must be between 0 and 1: ${sampling}`);
    super((_, sendWith) => {
      const trace = traceNumber();
      const { metadata } = exec.vu.metrics;
      metadata.trace_id = trace;
      try {
        return sendWith(headers(trace, Math.random() < sampling));
      } finally {
        delete metadata.trace_id;
      }
    });
  }
}
export function instrumentHTTP(options) {
  instrument(new Client(options));
}
export default { Client, instrumentHTTP };
