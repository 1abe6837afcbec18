// What scripts import from https://jslib.k6.io/k6-utils/*: the same names, our own code, no network.
import { check as builtInCheck } from 'k6';
import exec from 'k6/execution';
export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}
export function randomItem(items) {
  return items[Math.floor(Math.random() * items.length)];
}
export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  while (length-- > 0) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}
export function uuidv4() {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (mark) => {
    const digit = Math.floor(Math.random() * 16);
    return (mark === 'x' ? digit : (digit & 3) | 8).toString(16);
  });
}
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let at = 0;
  for (;;) {
    const start = content.indexOf(left, at);
    const end = start < 0 ? -1 : content.indexOf(right, start + left.length);
    if (end < 0) break;
    found.push(content.substring(start + left.length, end));
    if (!repeat) break;
    at = end + right.length;
  }
  return repeat ? found : found.length ? found[0] : null;
}
// Stages along the bell curve from -2 to 2, whose highest point has `most` VUs: a sixth of the time up to the first point,
// two thirds from point to point, a sixth down to 0.
export function normalDistributionStages(most, seconds, count = 10) {
  const bell = [];
  for (let i = 0; i <= count; i++) bell.push(Math.exp(-((-2 + (4 * i) / count) ** 2) / 2));
  const highest = Math.max(...bell);
  const edge = `${Math.ceil(seconds / 6)}s`;
  const step = `${Math.ceil((seconds * 2) / (3 * count))}s`;
  const stages = bell.map((height, i) => ({ duration: i === 0 ? edge : step, target: Math.round((most * height) / highest) }));
  stages.push({ duration: edge, target: 0 });
  return stages;
}
export function parseDuration(text) {
  if (text === undefined || text === null || text === '') throw new Error('str is required');
  const units = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1, us: 0.001, 'µs': 0.001, ns: 0.000001 };
  let total = 0;
  const rest = String(text).replace(/(\d+(?:\.\d+)?)(ms|us|µs|ns|d|h|m|s)/g, (_, number, unit) => {
    total += Number(number) * units[unit];
    return '';
  });
  // What is no duration counts for nothing.
  return rest === '' || Number.isNaN(Number(rest)) ? total : total + Number(rest);
}
function stages() {
  const { scenarios } = exec.test.options;
  const scenario = scenarios && scenarios[exec.scenario.name];
  if (!scenario || !scenario.stages) throw new Error('only ramping-vus and ramping-arrival-rate have stages');
  return scenario.stages;
}
export function getCurrentStageIndex() {
  const passed = Date.now() - exec.scenario.startTime;
  let end = 0;
  const all = stages();
  for (let i = 0; i < all.length; i++) {
    end += parseDuration(all[i].duration);
    if (passed < end) return i;
  }
  return all.length - 1;
}
export function tagWithCurrentStageIndex() {
  exec.vu.tags.stage = getCurrentStageIndex();
}
export function tagWithCurrentStageProfile() {
  const all = stages();
  const at = getCurrentStageIndex();
  const before = at === 0 ? 0 : Number(all[at - 1].target);
  const target = Number(all[at].target);
  exec.vu.tags.stage_profile = target > before ? 'ramp-up' : target < before ? 'ramp-down' : 'steady';
}
function isPromise(value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function';
}
// As the built-in `check`, but it waits for conditions that are promises, and gives a promise if there are any.
export function checkConditions(value, conditions, tags) {
  const count = (name, held) => builtInCheck(null, { [name]: held }, ...(tags === undefined ? [] : [tags]));
  if (conditions === null || typeof conditions !== 'object') return builtInCheck(value, conditions, tags);
  const waiting = [];
  let all = true;
  for (const [name, condition] of Object.entries(conditions)) {
    let held;
    try {
      held = typeof condition === 'function' ? condition(value) : condition;
    } catch (error) {
      count(name, false);
      throw error;
    }
    if (!isPromise(held)) {
      all = count(name, Boolean(held)) && all;
      continue;
    }
    const counted = held.then((result) => count(name, Boolean(result)), (error) => {
      count(name, false);
      throw error;
    });
    waiting.push(counted);
  }
  return waiting.length === 0 ? all : Promise.all(waiting).then((results) => results.every(Boolean) && all);
}
// The same; a value that is a promise is waited for.
export function check(value, conditions, tags) {
  if (!isPromise(value)) return checkConditions(value, conditions, tags);
  return value.then((value) => checkConditions(value, conditions, tags));
}
