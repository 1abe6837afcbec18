// What scripts import from https://jslib.k6.io/totp/*: one-time passwords by the time (RFC 6238, SHA-1), over k6/crypto.
import crypto from 'k6/crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

// RFC 4648, section 6.
function base32(text) {
  const bytes = [];
  let bits = 0;
  let value = 0;
  for (const letter of text.toUpperCase().replace(/[\s=-]/g, '')) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) throw new Error(`the secret is no base32: it has a "${letter}"`);
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Uint8Array.from(bytes).buffer;
}

export class TOTP {
  constructor(secret, digits = 6) {
    if (typeof secret !== 'string' || secret === '') throw new Error('TOTP wants a secret in base32');
    this.secret = secret;
    this.digits = digits;
  }
  // The password of now, with this many seconds for each, `bias` seconds away.
  async gen(timeStep = 30, bias = 0) {
    const counter = new DataView(new ArrayBuffer(8));
    counter.setBigUint64(0, BigInt(Math.floor((Math.floor(Date.now() / 1000) + bias) / timeStep)));
    const digest = new DataView(crypto.hmac('sha1', base32(this.secret), counter.buffer, 'binary'));
    const at = digest.getUint8(digest.byteLength - 1) & 0xf;
    const number = digest.getUint32(at) & 0x7fffffff;
    return String(number % 10 ** this.digits).padStart(this.digits, '0');
  }
  async verify(code, timeStep = 30) {
    return (await this.gen(timeStep)) === String(code);
  }
}
