// What scripts import from https://jslib.k6.io/k6-summary/*: the summary of a run as text, in the layout that k6 had before its
// version 1 (`--summary-mode=legacy`), and its thresholds as JUnit. It is made from what `handleSummary` is given.
const UNITS = { s: ['s', 0.001], ms: ['ms', 1], us: ['µs', 1000] };
const PAINT = { good: 32, bad: 31, value: 36 };

// At most so many digits after the point.
function trimmed(value, digits) {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
}
// Two digits after the point at most; those beyond are cut off.
function cut(value) {
  return trimmed(Math.trunc(value * 100) / 100, 2);
}
function bytes(value) {
  let unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(unit > 0 && value < 10 ? 1 : 0)} ${['B', 'kB', 'MB', 'GB', 'TB'][unit]}`;
}
// Milliseconds in the unit that suits them.
function duration(value) {
  const ms = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${sign}${Math.trunc(ms * 1e6)}ns`;
  if (ms < 1) return `${sign}${cut(ms * 1e3)}µs`;
  if (ms < 1e3) return `${sign}${cut(ms)}ms`;
  if (ms < 6e4) return `${sign}${cut(ms / 1e3)}s`;
  const minutes = Math.trunc(ms / 6e4);
  const seconds = Math.trunc((ms % 6e4) / 1e3);
  return sign + (minutes < 60 ? `${minutes}m${seconds}s` : `${Math.trunc(minutes / 60)}h${minutes % 60}m${seconds}s`);
}
// A figure of a metric in its unit; times in this one, or in the one that suits them.
export function humanizeValue(value, metric, timeUnit) {
  if (typeof value !== 'number') return String(value);
  if (metric.type === 'rate') return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains !== 'time') return trimmed(value, 6);
  const unit = UNITS[timeUnit];
  return unit ? (value * unit[1]).toFixed(2) + unit[0] : duration(value);
}

// The figures of a metric, in columns.
function cells(metric, options) {
  const { values } = metric;
  const shown = (value) => humanizeValue(value, metric, options.summaryTimeUnit);
  switch (metric.type) {
    case 'counter':
      return [shown(values.count), `${metric.contains === 'data' ? bytes(values.rate) : trimmed(values.rate, 6)}/s`];
    case 'gauge':
      return [shown(values.value), `min=${shown(values.min)}`, `max=${shown(values.max)}`];
    case 'rate':
      return [shown(values.rate), `${values.passes} out of ${values.passes + values.fails}`];
    default:
      return options.summaryTrendStats.map((stat) => `${stat}=${stat === 'count' ? values[stat] : shown(values[stat])}`);
  }
}
// What a terminal would take for a command is shown and not done.
function plain(name) {
  return String(name).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
function width(text) {
  return [...text].length;
}
// A list as it is, or the values of an object.
function listed(items) {
  return Array.isArray(items) ? items : Object.values(items || {});
}

function groupLines(lines, group, indent, mark) {
  for (const check of listed(group.checks)) {
    lines.push(`${indent}${mark(check.fails === 0)} ${plain(check.name)}`);
    if (check.fails > 0) {
      const share = Math.floor((100 * check.passes) / (check.passes + check.fails));
      lines.push(`${indent} ↳  ${share}% — ✓ ${check.passes} / ✗ ${check.fails}`);
    }
  }
  if (listed(group.checks).length > 0) lines.push('');
  for (const inner of listed(group.groups)) {
    lines.push(`${indent}█ ${plain(inner.name)}`, '');
    groupLines(lines, inner, `${indent}  `, mark);
  }
}

function metricLines(lines, metrics, options, mark, paint) {
  const names = Object.keys(metrics).filter((name) => metrics[name] && metrics[name].values);
  const base = (name) => name.split('{')[0];
  const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  // Submetrics follow their metric.
  names.sort((one, other) => order(base(one), base(other)) || order(one, other));
  const rows = names.map((name) => {
    const metric = metrics[name];
    const isSub = name.includes('{');
    return {
      shown: isSub ? `{ ${plain(name.slice(name.indexOf('{') + 1, -1))} }` : plain(name),
      isSub,
      outcomes: Object.values(metric.thresholds || {}),
      cells: cells(metric, options),
      kind: metric.type === 'trend' ? 'trend' : 'other',
    };
  });
  const widths = { trend: [], other: [] };
  let nameWidth = 0;
  for (const row of rows) {
    nameWidth = Math.max(nameWidth, width(row.shown) + (row.isSub ? 2 : 0));
    row.cells.forEach((cell, at) => {
      widths[row.kind][at] = Math.max(widths[row.kind][at] || 0, width(cell));
    });
  }
  for (const row of rows) {
    const sign = row.outcomes.length === 0 ? ' ' : mark(row.outcomes.every((outcome) => outcome.ok));
    const dots = '.'.repeat(nameWidth + 3 - width(row.shown) - (row.isSub ? 2 : 0));
    const figures = row.cells.map((cell, at) => {
      const isPadded = row.kind === 'trend' || at < row.cells.length - 1;
      return paint('value', cell + ' '.repeat(isPadded ? widths[row.kind][at] - width(cell) : 0));
    });
    lines.push(`${options.indent}${row.isSub ? '    ' : '  '}${sign} ${row.shown}${dots}: ${figures.join(' ')}`);
  }
}

export function textSummary(data, options) {
  const all = { indent: ' ', enableColors: true, summaryTimeUnit: '', summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'], ...data.options, ...options };
  const paint = (color, text) => (all.enableColors ? `\x1b[${PAINT[color]}m${text}\x1b[0m` : text);
  const mark = (holds) => (holds ? paint('good', '✓') : paint('bad', '✗'));
  const lines = [];
  groupLines(lines, data.root_group || {}, `${all.indent}    `, mark);
  metricLines(lines, data.metrics || {}, all, mark, paint);
  return lines.join('\n');
}

function xml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
  return plain(text).replace(/[&<>"']/g, (c) => entities[c]);
}
// Each threshold as a test.
export function jUnit(data, options) {
  const cases = [];
  let failures = 0;
  for (const [name, metric] of Object.entries(data.metrics || {})) {
    for (const [source, outcome] of Object.entries(metric.thresholds || {})) {
      const test = `<testcase name="${xml(`${name} - ${source}`)}"`;
      if (!outcome.ok) failures += 1;
      cases.push(outcome.ok ? `${test} />` : `${test}><failure message="failed" /></testcase>`);
    }
  }
  const title = xml((options && options.name) || 'k6 thresholds');
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return [
    '<?xml version="1.0"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${title}" ${counts}>`,
    ...cases,
    '</testsuite>',
    '</testsuites>',
  ].join('\n');
}
