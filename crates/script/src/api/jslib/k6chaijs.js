// What k6chaijs adds to chai: every assertion is a check, and `describe` is a group that catches what is thrown in it.
import { check, group } from 'k6';

const adaptedBefore = new Map();

// Changes a chai, and gives its `expect` with a `describe`.
export function adapted(chai) {
  if (!adaptedBefore.has(chai)) adaptedBefore.set(chai, adapt(chai));
  return adaptedBefore.get(chai);
}

function adapt(chai) {
  const { config, util, Assertion, AssertionError } = chai;
  Object.assign(config, { truncateMsgThreshold: 300, truncateVariableThreshold: 100, aggregateChecks: true, logFailures: false });
  const { assert } = Assertion.prototype;

  function shown(value) {
    const { truncateThreshold } = config;
    config.truncateThreshold = 0;
    try {
      return cut(util.inspect(value), config.truncateVariableThreshold);
    } finally {
      config.truncateThreshold = truncateThreshold;
    }
  }
  // The message of an assertion as a check's name. Where checks are added up, it has no value that may differ each time.
  function nameOf(assertion, given, isAggregated) {
    const template = util.flag(assertion, 'negate') ? given[2] : given[1];
    const message = String((typeof template === 'function' ? template() : template) || '');
    const about = util.flag(assertion, 'message');
    const values = {
      this: () => about || (isAggregated ? '${this}' : shown(util.flag(assertion, 'object'))),
      act: () => (isAggregated ? '${actual}' : shown(util.getActual(assertion, given))),
      exp: () => shown(given[3]),
    };
    const name = message.replace(' but got', ' got').replace(/#\{(this|act|exp)\}/g, (_, tag) => values[tag]());
    return cut(name, config.truncateMsgThreshold);
  }

  Assertion.prototype.assert = function (...given) {
    const holds = Boolean(util.test(this, given));
    count(nameOf(this, given, config.aggregateChecks), holds);
    if (!holds && config.logFailures) console.warn(nameOf(this, given, false));
    return assert.apply(this, given);
  };
  Assertion.addMethod('validJsonBody', function () {
    let isValid = true;
    try {
      this._obj.json();
    } catch {
      isValid = false;
    }
    this.assert(isValid, 'has valid json body', 'has no valid json body');
  });

  function describe(name, test) {
    let isGood = true;
    group(name, () => {
      try {
        test();
      } catch (error) {
        isGood = false;
        // An assertion that failed was counted already.
        if (error instanceof AssertionError) return;
        const text = `Exception raised "${error}"`;
        count(cut(text, config.truncateMsgThreshold), false);
        if (config.logFailures) console.warn(text);
      }
    });
    return isGood;
  }
  return { describe, expect: chai.expect };
}

function count(name, holds) {
  check(null, { [name]: holds });
}
function cut(text, most) {
  return most > 0 && text.length > most ? `${text.slice(0, most)}...` : text;
}
