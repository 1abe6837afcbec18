// What scripts import from https://jslib.k6.io/k6-utils/*: the same names, our own code, no network.
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
