// What https://jslib.k6.io/k6-rails/ offers, over k6/html.
const attribute = (doc, selector, name) => { const found = doc.find(selector); return found ? found.attr(name) : undefined; };

export function readMeta(doc, name, attr = 'content') { return attribute(doc, `meta[name=${name}]`, attr); }
export function csrfToken(doc) { return readMeta(doc, 'csrf-token'); }
export function csrfParam(doc) { return readMeta(doc, 'csrf-param'); }
export function cableUrl(doc) { return readMeta(doc, 'action-cable-url') || readMeta(doc, 'cable-url'); }
export function turboStreamSource(doc, selector = 'turbo-cable-stream-source') {
  const found = doc.find(selector);
  return { streamName: found.attr('signed-stream-name'), channelName: found.attr('channel') };
}
