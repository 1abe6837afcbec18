// What k6 makes of languages: texts in the order of the root collation, dates as it writes them, whatever the locale.
(function () {
  'use strict';
  // What is neither digit nor letter, in the order of the collation; those follow.
  const SIGNS = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';
  const TWO = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l' };
  const rank = (char) => {
    const at = SIGNS.indexOf(char);
    return at >= 0 ? at : char.codePointAt(0) + SIGNS.length;
  };
  // A text on its three levels: the letters, their marks, and whether they are capitals.
  const levels = (text) => {
    const [letters, marks, forms] = [[], [], []];
    for (const char of text.normalize('NFD')) {
      if (letters.length > 0 && /\p{M}/u.test(char)) {
        marks[marks.length - 1] += char;
        continue;
      }
      const lower = char.toLowerCase();
      for (const one of TWO[lower] ?? lower) {
        letters.push(rank(one));
        marks.push('');
        forms.push((lower === char ? 0 : 2) + (lower in TWO ? 1 : 0));
      }
    }
    return [letters, marks, forms];
  };
  const order = (a, b) => {
    const length = Math.min(a.length, b.length);
    for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
    return Math.sign(a.length - b.length);
  };
  const two = (number) => String(number).padStart(2, '0');
  const time = (date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = (date) => `${two(date.getMonth() + 1)}/${two(date.getDate())}/${String(date.getFullYear()).padStart(4, '0')}`;
  const shown = (date, write) => (Number.isNaN(date.getTime()) ? 'Invalid Date' : write(date));
  const { toString, toTimeString } = Date.prototype;
  const zone = (date) => (date.getTimezoneOffset() === 0 ? ' (UTC)' : '');

  const texts = {
    localeCompare(that) {
      if (this === undefined || this === null) throw new TypeError('localeCompare needs a text');
      const [a, b] = [String(this), String(that)];
      if (a === b) return 0;
      const [first, second] = [levels(a), levels(b)];
      return order(first[0], second[0]) || order(first[1], second[1]) || order(first[2], second[2]);
    },
  };
  const dates = {
    toLocaleString() { return shown(this, (date) => `${day(date)}, ${time(date)}`); },
    toLocaleDateString() { return shown(this, day); },
    toLocaleTimeString() { return shown(this, time); },
    toString() { return shown(this, (date) => toString.call(date) + zone(date)); },
    toTimeString() { return shown(this, (date) => toTimeString.call(date) + zone(date)); },
  };
  const set = (target, methods) => {
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
    }
  };
  set(String.prototype, texts);
  set(Date.prototype, dates);
  return {};
})
