//! The functions that scripts of plans call, each written only where it is used.

/// A function of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    BoundaryValues,
    CsvRows,
    FormatDate,
    Gaussian,
    HeaderText,
    JsonValues,
    Missing,
    Pace,
    Pick,
    Poisson,
    RampUp,
    RandomInteger,
    RandomString,
    RegexValues,
    Shuffled,
    Uuid,
}

impl Helper {
    /// Its source.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::BoundaryValues => BOUNDARY_VALUES,
            Self::CsvRows => CSV_ROWS,
            Self::FormatDate => FORMAT_DATE,
            Self::Gaussian => GAUSSIAN,
            Self::HeaderText => HEADER_TEXT,
            Self::JsonValues => JSON_VALUES,
            Self::Missing => MISSING,
            Self::Pace => PACE,
            Self::Pick => PICK,
            Self::Poisson => POISSON,
            Self::RampUp => RAMP_UP,
            Self::RandomInteger => RANDOM_INTEGER,
            Self::RandomString => RANDOM_STRING,
            Self::RegexValues => REGEX_VALUES,
            Self::Shuffled => SHUFFLED,
            Self::Uuid => UUID,
        }
    }
}

const BOUNDARY_VALUES: &str = r"
// What stands between two texts, as often as it does.
function boundaryValues(text, left, right) {
  const values = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(left, at);
    if (start < 0) return values;
    const from = start + left.length;
    const end = right === '' ? text.length : text.indexOf(right, from);
    if (end < 0) return values;
    values.push(text.slice(from, end));
    at = end + right.length;
    if (left === '' && right === '' || at >= text.length) return values;
  }
}
";

const CSV_ROWS: &str = r#"
// The rows of a CSV text as objects. Without names the first line has them.
function csvRows(text, names, delimiter, skipsFirst) {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/).filter((line) => line !== '');
  const split = (line) => line.split(delimiter).map((field) => field.replace(/^"(.*)"$/, '$1'));
  const keys = names.length > 0 ? names : split(lines.shift());
  if (skipsFirst) lines.shift();
  return lines.map((line) => {
    const fields = split(line);
    return Object.fromEntries(keys.map((key, n) => [key, fields[n] === undefined ? '' : fields[n]]));
  });
}
"#;

const FORMAT_DATE: &str = r"
// A moment by a pattern of Java's, in UTC: yyyy MM dd HH mm ss SSS, texts in quotes.
function formatDate(pattern, date) {
  const parts = {
    y: date.getUTCFullYear(), M: date.getUTCMonth() + 1, d: date.getUTCDate(),
    H: date.getUTCHours(), m: date.getUTCMinutes(), s: date.getUTCSeconds(), S: date.getUTCMilliseconds(),
  };
  return pattern.replace(/'([^']*)'|([yMdHmsS])\2*/g, (all, text, letter) => {
    if (letter === undefined) return text === '' ? String.fromCharCode(39) : text;
    const digits = String(parts[letter]).padStart(all.length, '0');
    return letter === 'y' && all.length === 2 ? digits.slice(-2) : digits;
  });
}
";

const GAUSSIAN: &str = r"
// A number of the standard normal distribution.
function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
";

const HEADER_TEXT: &str = r"
// The header fields of an answer, a line each.
function headerText(res) {
  return Object.entries(res.headers).map(([name, value]) => `${name}: ${value}\n`).join('');
}
";

const JSON_VALUES: &str = r"
// What stands at a path of an answer's JSON: keys, indices, '*' for every member, '..' for any depth.
function jsonValues(res, path) {
  let found = [];
  try {
    found = [res.json()];
  } catch (error) {
    return found;
  }
  const members = (value) => (value !== null && typeof value === 'object' ? Object.values(value) : []);
  const below = (value) => [value, ...members(value).flatMap(below)];
  for (const step of path) {
    if (step === '*') found = found.flatMap(members);
    else if (step === '..') found = found.flatMap(below);
    else found = found
      .map((value) => {
        if (value === null || typeof value !== 'object') return undefined;
        return Array.isArray(value) && step < 0 ? value[value.length + step] : value[step];
      })
      .filter((value) => value !== undefined);
  }
  return found.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
}
";

const MISSING: &str = r"
// A function of JMeter's that has no equal here.
function missing(name) {
  console.warn(`${name} of the plan has no equal in this script`);
  return '';
}
";

const PACE: &str = r"
// Holds this user back to so many requests a minute, as throughput timers do.
let paceDue = 0;
function pace(perMinute) {
  const now = Date.now();
  if (paceDue > now) sleep((paceDue - now) / 1000);
  paceDue = Math.max(paceDue, now) + 60000 / perMinute;
}
";

const PICK: &str = r"
// Puts a value of those found into a variable: number 1 is the first, 0 a random one, -1 puts each into NAME_1, NAME_2 and so on.
function pick(name, values, number, fallback) {
  if (number < 0) {
    values.forEach((value, n) => { vars[`${name}_${n + 1}`] = value; });
    vars[`${name}_matchNr`] = values.length;
    return;
  }
  const at = number === 0 ? Math.floor(Math.random() * values.length) : number - 1;
  if (values[at] !== undefined) vars[name] = values[at];
  else if (fallback !== undefined) vars[name] = fallback;
}
";

const POISSON: &str = r"
// A number of the Poisson distribution with this mean.
function poisson(mean) {
  if (mean > 500) return Math.max(0, Math.round(mean + Math.sqrt(mean) * Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())));
  let count = -1;
  for (let product = 1; product > Math.exp(-mean); count += 1) product *= Math.random();
  return Math.max(0, count);
}
";

const RAMP_UP: &str = r"
// Users start one after the other, as JMeter's threads do: number n after n / users of the ramp-up.
function rampUp(seconds, users) {
  if (exec.vu.iterationInScenario > 0) return;
  const number = exec.scenario.iterationInTest % users;
  if (number > 0) sleep((number * seconds) / users);
}
";

const RANDOM_INTEGER: &str = r"
// A whole number, both ends included.
function randomInteger(from, to) {
  return from + Math.floor(Math.random() * (to - from + 1));
}
";

const RANDOM_STRING: &str = r"
// Letters drawn from a text; without one, lower-case letters and digits.
function randomString(length, letters) {
  const from = letters || 'abcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length }, () => from[Math.floor(Math.random() * from.length)]).join('');
}
";

const REGEX_VALUES: &str = r"
// Every match of a regular expression as its template: $1$ is the first group, $0$ the match.
function regexValues(text, pattern, template) {
  const matches = [...String(text).matchAll(new RegExp(pattern, 'gm'))];
  return matches.map((match) => template.replace(/\$(\d+)\$/g, (all, group) => match[group] || ''));
}
";

const SHUFFLED: &str = r"
// The same in a random order.
function shuffled(list) {
  for (let n = list.length - 1; n > 0; n -= 1) {
    const other = Math.floor(Math.random() * (n + 1));
    [list[n], list[other]] = [list[other], list[n]];
  }
  return list;
}
";

const UUID: &str = r"
// A random UUID, version 4.
function uuid() {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (c) => {
    const digit = Math.floor(Math.random() * 16);
    return (c === 'x' ? digit : (digit % 4) + 8).toString(16);
  });
}
";
