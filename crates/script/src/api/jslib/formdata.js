// What scripts import from https://jslib.k6.io/formdata/*: a multipart form (RFC 7578) whose parts keep their order.
const PARTS = Symbol('parts');

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  // Bytes as numbers: what `http.file` makes of an array.
  if (Array.isArray(value)) return Uint8Array.from(value);
  return new TextEncoder().encode(String(value));
}
function isBinary(value) {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}
function isFile(value) {
  return value !== null && typeof value === 'object' && !isBinary(value) && 'data' in value;
}
// Names stand in quotation marks, and as HTML's forms have them.
function quoted(name) {
  return String(name).replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}

export function FormData() {
  if (!(this instanceof FormData)) return new FormData();
  this.boundary = `----FormDataBoundary${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
  this.contentType = `multipart/form-data; boundary=${this.boundary}`;
  Object.defineProperty(this, PARTS, { value: [] });
}
// A field, or a file: what `http.file` gives, an object with `data`, `filename` and `content_type`, or bytes.
FormData.prototype.append = function append(name, value, filename) {
  if (arguments.length < 2) throw new TypeError(`FormData.append wants a name and a value, not ${arguments.length} arguments`);
  let head = `Content-Disposition: form-data; name="${quoted(name)}"`;
  let content = value;
  if (isFile(value) || isBinary(value)) {
    const file = isFile(value) ? value : { data: value };
    head += `; filename="${quoted(filename || file.filename || 'blob')}"\r\nContent-Type: ${file.content_type || 'application/octet-stream'}`;
    content = file.data;
  }
  this[PARTS].push([head, bytesOf(content)]);
};
FormData.prototype.body = function body() {
  const pieces = [];
  for (const [head, content] of this[PARTS]) {
    pieces.push(bytesOf(`--${this.boundary}\r\n${head}\r\n\r\n`), content, bytesOf('\r\n'));
  }
  pieces.push(bytesOf(`--${this.boundary}--\r\n`));
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.buffer;
};
