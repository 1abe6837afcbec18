// What scripts import from https://jslib.k6.io/http-instrumentation-pyroscope/*: requests that name the scenario, the request and
// the run in a `baggage` header (https://www.w3.org/TR/baggage/), so that profiles can be told apart by them.
import exec from 'k6/execution';
import { InstrumentedClient, instrument } from 'brunt:instrumented-http';

// What a value may hold as it is: printable ASCII without blanks, quotation marks, commas, semicolons and backslashes.
function encoded(value) {
  return String(value).replace(/[^!#-+\--:<-[\]-~]/gu, (letter) => encodeURIComponent(letter));
}
// Only an iteration is of a scenario.
function scenario() {
  try {
    return exec.scenario.name;
  } catch {
    return undefined;
  }
}
function baggage({ url, params }) {
  const address = url !== null && typeof url === 'object' ? url.name || url.url : url;
  const pairs = {
    'k6.test_run_id': __ENV.K6_CLOUDRUN_TEST_RUN_ID,
    'k6.scenario': scenario(),
    'k6.name': (params && params.tags && params.tags.name) || address,
  };
  const known = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== '');
  return { Baggage: known.map(([name, value]) => `${name}=${encoded(value)}`).join(',') };
}

export class Client extends InstrumentedClient {
  constructor(generateHeaders) {
    super((request, sendWith) => {
      const { method, body, params } = request;
      return sendWith(generateHeaders ? generateHeaders(method, body, params) : baggage(request));
    });
  }
}
export function instrumentHTTP(generateHeaders) {
  instrument(new Client(generateHeaders));
}
export default { Client, instrumentHTTP };
