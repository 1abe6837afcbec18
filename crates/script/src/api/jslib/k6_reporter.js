// What scripts import of k6-reporter: a page of our own with a run's figures, from what `handleSummary` is given. It loads nothing
// from anywhere, and every text in it is escaped.
import { humanizeValue } from 'brunt:k6-summary';

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const DARK = 'color-scheme:dark;--ink:#e6e6e6;--paper:#16181d;--line:#363b45;--soft:#20242c;--good:#4cc38a;--bad:#ff6b6b';
const STYLE = `:root{color-scheme:light;--ink:#1c1e21;--paper:#fff;--line:#d9dce1;--soft:#f4f5f7;--good:#17794a;--bad:#b3261e}
:root.dark{${DARK}}
@media (prefers-color-scheme:dark){:root.default{${DARK}}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:76rem;padding:1.5rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem}
.cards{display:flex;flex-wrap:wrap;gap:.75rem}.card{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.6rem 1rem;min-width:9rem}
.card b{display:block;font-size:1.35rem}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere}
.good{color:var(--good)}.bad{color:var(--bad)}section section{margin-left:1.25rem}`;

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (c) => ENTITIES[c]);
}
function listed(items) {
  return Array.isArray(items) ? items : Object.values(items || {});
}
function table(head, rows) {
  const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table><thead>${row(head.map(escaped), 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('\n')}</tbody></table></div>`;
}
function part(title, body) {
  return body === '' ? '' : `<section><h2>${escaped(title)}</h2>${body}</section>`;
}
function outcome(holds, text) {
  return `<span class="${holds ? 'good' : 'bad'}">${holds ? '✓' : '✗'} ${escaped(text)}</span>`;
}

// The checks of a group and of those in it: how many held, and how many did not.
function counted(group) {
  const counts = { passes: 0, fails: 0 };
  for (const check of listed(group.checks)) {
    counts.passes += check.passes;
    counts.fails += check.fails;
  }
  for (const inner of listed(group.groups)) {
    const { passes, fails } = counted(inner);
    counts.passes += passes;
    counts.fails += fails;
  }
  return counts;
}
function groups(group) {
  const share = (check) => (check.passes + check.fails > 0 ? ((100 * check.passes) / (check.passes + check.fails)).toFixed(2) : '0.00');
  const checks = listed(group.checks).map((check) => [outcome(check.fails === 0, check.name), check.passes, check.fails, `${share(check)}%`]);
  const own = checks.length > 0 ? table(['Check', 'Passed', 'Failed', 'Share'], checks) : '';
  const inner = listed(group.groups).map((one) => `<section><h3>${escaped(one.name)}</h3>${groups(one)}</section>`);
  return own + inner.join('');
}
function thresholds(metrics) {
  const rows = [];
  for (const [name, metric] of metrics) {
    for (const [source, { ok }] of Object.entries(metric.thresholds || {})) rows.push([escaped(name), escaped(source), outcome(ok, ok ? 'met' : 'crossed')]);
  }
  return { rows, crossed: rows.filter((row) => row[2].includes('"bad"')).length };
}
// A metric's name, in red where one of its thresholds was crossed.
function named([name, metric]) {
  const outcomes = Object.values(metric.thresholds || {});
  return outcomes.length === 0 ? escaped(name) : outcome(outcomes.every(({ ok }) => ok), name);
}
function trends(metrics, shown) {
  const rows = metrics.filter(([, metric]) => metric.type === 'trend');
  const names = [...new Set(rows.flatMap(([, metric]) => Object.keys(metric.values)))];
  if (rows.length === 0) return '';
  return table(['Metric', ...names], rows.map((row) => [named(row), ...names.map((stat) => (stat === 'count' ? escaped(row[1].values[stat]) : shown(row[1], stat)))]));
}
function others(metrics, shown) {
  const columns = {
    counter: ['Counters', ['count', 'rate']],
    rate: ['Rates', ['rate', 'passes', 'fails']],
    gauge: ['Gauges', ['value', 'min', 'max']],
  };
  return Object.entries(columns).map(([type, [title, stats]]) => {
    const rows = metrics.filter(([, metric]) => metric.type === type);
    const figure = (metric, stat) => (stat === 'passes' || stat === 'fails' ? escaped(metric.values[stat]) : shown(metric, stat) + (type === 'counter' && stat === 'rate' ? '/s' : ''));
    return rows.length === 0 ? '' : part(title, table(['Metric', ...stats], rows.map((row) => [named(row), ...stats.map((stat) => figure(row[1], stat))])));
  });
}
function card(title, text) {
  return `<div class="card">${escaped(title)}<b>${text}</b></div>`;
}

// The page. `title` heads it, `theme` is `default` (as the reader's system), `light` or `dark`, `debug` logs the data.
export function htmlReport(data, options) {
  const { title = `K6 Load Test: ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`, theme = 'default', debug = false } = options || {};
  if (debug) console.log(JSON.stringify(data, null, 2));
  const metrics = Object.entries(data.metrics || {}).filter(([, metric]) => metric && metric.values);
  metrics.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const unit = data.options && data.options.summaryTimeUnit;
  const shown = (metric, stat) => (metric.values[stat] === undefined ? '' : escaped(humanizeValue(metric.values[stat], metric, unit)));
  const value = (name, stat) => (data.metrics && data.metrics[name] && data.metrics[name].values ? data.metrics[name].values[stat] : undefined);
  const root = data.root_group || {};
  const checks = counted(root);
  const limits = thresholds(metrics);
  const { testRunDurationMs: time } = data.state || {};
  const cards = [
    ['Requests', value('http_reqs', 'count')],
    ['Failed requests', value('http_req_failed', 'passes')],
    ['Iterations', value('iterations', 'count')],
    ['Most VUs', value('vus_max', 'max')],
    ['Duration', time === undefined ? undefined : humanizeValue(time, { type: 'trend', contains: 'time' })],
    ['Received', value('data_received', 'count') === undefined ? undefined : humanizeValue(value('data_received', 'count'), { contains: 'data' })],
    ['Sent', value('data_sent', 'count') === undefined ? undefined : humanizeValue(value('data_sent', 'count'), { contains: 'data' })],
  ];
  const body = [
    `<h1>${escaped(title)}</h1>`,
    '<div class="cards">',
    ...cards.filter(([, text]) => text !== undefined).map(([name, text]) => card(name, escaped(text))),
    limits.rows.length > 0 ? card('Thresholds', outcome(limits.crossed === 0, `${limits.crossed} of ${limits.rows.length} crossed`)) : '',
    checks.passes + checks.fails > 0 ? card('Checks', outcome(checks.fails === 0, `${checks.fails} of ${checks.passes + checks.fails} failed`)) : '',
    '</div>',
    part('Thresholds', limits.rows.length > 0 ? table(['Metric', 'Threshold', 'Result'], limits.rows) : ''),
    part('Checks and groups', groups(root)),
    part('Times and other trends', trends(metrics, shown)),
    ...others(metrics, shown),
  ];
  const known = theme === 'dark' || theme === 'light' ? theme : 'default';
  return `<!doctype html>\n<html lang="en" class="${known}">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(title)}</title>\n<style>${STYLE}</style></head>\n<body>\n${body.filter((text) => text !== '').join('\n')}\n</body>\n</html>\n`;
}
