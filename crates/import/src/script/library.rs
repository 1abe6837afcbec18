//! Functions that a script brings along if it needs them, and the modules they import.

/// A function of our own in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Between,
    BytesOf,
    Converse,
    Cookie,
    Crypto,
    Encoding,
    Follow,
    FormEncode,
    FromHtml,
    FromMessages,
    InJson,
    ItemBetween,
    Multipart,
    SignedV4,
    Uuid,
    WithUser,
}

impl Helper {
    /// The helpers that this one calls.
    pub(super) fn needs(self) -> &'static [Self] {
        match self {
            Self::Multipart => &[Self::BytesOf],
            Self::SignedV4 => &[Self::Crypto],
            _ => &[],
        }
    }

    /// The import that it needs.
    pub(super) fn import(self) -> Option<&'static str> {
        match self {
            Self::Converse => Some("import ws from 'k6/ws';\n"),
            Self::Crypto => Some("import crypto from 'k6/crypto';\n"),
            Self::Encoding => Some("import encoding from 'k6/encoding';\n"),
            _ => None,
        }
    }

    /// Its text; empty for modules.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::Crypto | Self::Encoding => "",
            Self::Between => BETWEEN,
            Self::BytesOf => BYTES_OF,
            Self::Converse => CONVERSE,
            Self::Cookie => COOKIE,
            Self::Follow => FOLLOW,
            Self::FormEncode => FORM_ENCODE,
            Self::FromHtml => FROM_HTML,
            Self::FromMessages => FROM_MESSAGES,
            Self::InJson => IN_JSON,
            Self::ItemBetween => ITEM_BETWEEN,
            Self::Multipart => MULTIPART,
            Self::SignedV4 => SIGNED_V4,
            Self::Uuid => UUID,
            Self::WithUser => WITH_USER,
        }
    }
}

const BETWEEN: &str = r"
// What stands in a text between two others; undefined if it is not there.
function between(text, left, right) {
  if (typeof text !== 'string') return undefined;
  const at = text.indexOf(left);
  if (at < 0) return undefined;
  const start = at + left.length;
  const end = right === '' ? text.length : text.indexOf(right, start);
  return end < 0 ? undefined : text.slice(start, end);
}
";

const BYTES_OF: &str = r"
// The bytes of a text in UTF-8, or of an ArrayBuffer.
function bytesOf(content) {
  if (typeof content !== 'string') return new Uint8Array(content);
  const text = unescape(encodeURIComponent(content));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
";

const CONVERSE: &str = r"
// A WebSocket: each message goes out once one has come with `after` in it, the last is given half a second.
// `hearings` take values of what came; a message that needs some waits for them.
function converse(url, params, messages, hearings = []) {
  let next = 0;
  const heard = [];
  const res = ws.connect(url, params, (socket) => {
    const send = (received) => {
      if (next >= messages.length) return;
      while (next < messages.length) {
        const { after, text, needs } = messages[next];
        if (after !== undefined && (received === undefined || !received.includes(after))) return;
        if (needs && needs().includes(undefined)) return;
        received = undefined;
        socket.send(needs ? text() : text);
        next++;
      }
      socket.setTimeout(() => socket.close(), 500);
    };
    socket.on('open', () => (messages.length === 0 ? socket.close() : send()));
    socket.on('message', (received) => {
      if (heard.length < 1000 && hearings.length > 0) heard.push(received);
      for (const hearing of hearings) hearing(heard);
      send(received);
    });
    socket.setTimeout(() => socket.close(), 10000);
  });
  return { status: res.status, sent: next };
}
";

const COOKIE: &str = r"
// What the user's jar has for an address under that name now.
function cookie(url, name) {
  return (http.cookieJar().cookiesForURL(url)[name] || [''])[0];
}
";

const FOLLOW: &str = r"
// A request through its redirects. `keeps.method` keeps its method, the statuses of `keeps.body` the body as well.
function follow(method, url, body, params, keeps) {
  const origin = (address) => address.match(/^\w+:\/\/[^/?#]+/)[0];
  let res = http.request(method, url, body, { ...params, redirects: 0 });
  const first = origin(res.url);
  const headers = { ...params.headers };
  const drop = (names) => Object.keys(headers).filter((name) => names.includes(name.toLowerCase())).forEach((name) => delete headers[name]);
  for (let hops = 0; hops < keeps.hops && [301, 302, 303, 307, 308].includes(res.status) && res.headers.Location; hops++) {
    const next = redirected(res.url, res.headers.Location);
    if (res.status < 307 && !keeps.body.includes(res.status)) {
      if (!keeps.method && method !== 'HEAD') method = 'GET';
      body = null;
      drop(['content-type']);
    }
    if (!keeps.trusts && origin(next) !== first) drop(['authorization', 'cookie']);
    res = http.request(method, next, body, { ...params, headers, redirects: 0 });
  }
  return res;
}

// Where a redirect leads: `to` is a whole address, or one from `from` on.
function redirected(from, to) {
  if (/^\w+:\/\//.test(to)) return to;
  const [, scheme, host, path] = from.match(/^(\w+:)\/\/([^/?#]+)([^?#]*)/);
  if (to.startsWith('//')) return scheme + to;
  const base = scheme + '//' + host;
  const [, way, query] = to.match(/^([^?#]*)([^#]*)/);
  if (way === '') return base + path + query;
  const steps = [];
  (way.startsWith('/') ? way : (path || '/').replace(/[^/]*$/, '') + way).split('/').forEach((step, i, all) => {
    if (step === '..' && steps.length > 1) steps.pop();
    if (step !== '..' && step !== '.') steps.push(step);
    else if (i === all.length - 1) steps.push('');
  });
  return base + steps.join('/') + query;
}
";

const FORM_ENCODE: &str = r"
// A value as forms encode it.
function formEncode(value) {
  return encodeURIComponent(value).replace(/%20/g, '+');
}
";

const FROM_HTML: &str = r#"
// A text of HTML with its entities as the characters they stand for.
function fromHtml(text) {
  const names = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
  return text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (entity, name) => {
    if (name[0] !== '#') return names[name.toLowerCase()] || entity;
    const hexadecimal = name[1] === 'x' || name[1] === 'X';
    return String.fromCodePoint(parseInt(name.slice(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10));
  });
}
"#;

const FROM_MESSAGES: &str = r"
// A value in the JSON of messages: of those with `marker` in their text, that of the one that `nth` others come before.
function fromMessages(messages, marker, nth, path) {
  for (const message of messages) {
    if (!message.includes(marker)) continue;
    let value;
    try {
      value = JSON.parse(message.replace(/^\d[\w\/,-]*(?=[\[{])/, ''));
    } catch (e) {
      continue;
    }
    for (const step of path) value = value === null || value === undefined ? undefined : value[step];
    if ((typeof value === 'string' || typeof value === 'number') && nth-- === 0) return value;
  }
  return undefined;
}
";

const IN_JSON: &str = r"
// A value as the inside of a JSON string.
function inJson(value) {
  return JSON.stringify(String(value)).slice(1, -1);
}
";

const ITEM_BETWEEN: &str = r"
// What stands between two texts in the item of a list that `nth` others come before; undefined if there are fewer.
function itemBetween(text, left, right, nth) {
  if (typeof text !== 'string') return undefined;
  let start = 0;
  for (let i = 0; i <= nth; i++) {
    const at = text.indexOf(left, start);
    if (at < 0) return undefined;
    start = at + left.length;
  }
  const end = text.indexOf(right, start);
  return end < 0 ? undefined : text.slice(start, end);
}
";

const MULTIPART: &str = r#"
// A multipart body: its bytes, and its Content-Type. A part is { name, content, filename, type, headers } or { name, files: [part] }.
function multipart(subtype, parts) {
  const boundary = '----brunt' + Math.random().toString(36).slice(2) + Date.now().toString(36);
  const quoted = (text) => '"' + text.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A') + '"';
  const chunks = [];
  for (const part of parts) {
    const nested = part.files && multipart('mixed', part.files);
    const type = nested ? nested.type : part.type;
    let head = '--' + boundary + '\r\nContent-Disposition: ' + (part.name === undefined ? 'attachment' : 'form-data; name=' + quoted(part.name));
    if (part.filename !== undefined) head += '; filename=' + quoted(part.filename);
    if (type) head += '\r\nContent-Type: ' + type;
    for (const line of part.headers || []) head += '\r\n' + line;
    chunks.push(bytesOf(head + '\r\n\r\n'), bytesOf(nested ? nested.body : part.content), bytesOf('\r\n'));
  }
  chunks.push(bytesOf('--' + boundary + '--\r\n'));
  const body = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return { body: body.buffer, type: 'multipart/' + subtype + '; boundary=' + boundary };
}
"#;

const SIGNED_V4: &str = r"
// Header fields of a request signed as AWS wants it (Signature Version 4). The signature holds for minutes, so it is made here.
function signedV4(method, url, body, headers, keys) {
  const [, host, path, query] = url.match(/^\w+:\/\/([^/?#]+)([^?#]*)\??([^#]*)/);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const encoded = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
  const once = (text) => { try { return encoded(decodeURIComponent(text)); } catch (e) { return encoded(text); } };
  const signed = { ...headers, 'X-Amz-Date': time };
  const hash = crypto.sha256(body || '', 'hex');
  if (keys.service === 's3') signed['x-amz-content-sha256'] = hash;
  if (keys.token) signed['X-Amz-Security-Token'] = keys.token;
  const fields = Object.entries({ ...signed, Host: headers.Host || host }).map(([name, value]) => [name.toLowerCase(), String(value).trim().replace(/ +/g, ' ')])
    .filter(([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-')).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const names = fields.map(([name]) => name).join(';');
  const canonicalQuery = query.split('&').filter((pair) => pair).map((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? once(pair) + '=' : once(pair.slice(0, at)) + '=' + once(pair.slice(at + 1));
  }).sort().join('&');
  const canonicalPath = (path || '/').split('/').map(keys.service === 's3' ? once : (part) => encoded(part)).join('/');
  const canonical = [method, canonicalPath, canonicalQuery, ...fields.map(([name, value]) => name + ':' + value), '', names, hash].join('\n');
  const scope = [time.slice(0, 8), keys.region, keys.service, 'aws4_request'];
  const key = scope.reduce((secret, part) => crypto.hmac('sha256', secret, part, 'binary'), 'AWS4' + keys.secret);
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), crypto.sha256(canonical, 'hex')].join('\n');
  signed.Authorization = 'AWS4-HMAC-SHA256 Credential=' + keys.key + '/' + scope.join('/') + ', SignedHeaders=' + names + ', Signature=' + crypto.hmac('sha256', key, text, 'hex');
  return signed;
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

const WITH_USER: &str = r"
// An address with credentials in it, as digest authentication wants them.
function withUser(url, user, password) {
  return url.replace('://', '://' + encodeURIComponent(user) + ':' + encodeURIComponent(password) + '@');
}
";
