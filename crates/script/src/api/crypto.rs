//! Module `k6/crypto`: hashes, HMAC, random bytes.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::bytes::{buffer, hex, input, output};
use super::hash::Digest;
use super::js_builtins::{declare_all, export_all};
use super::webcrypto;
use crate::runtime::values::number_of;

/// The module.
pub(super) struct Crypto;

/// The hashes.
const HASHES: [&str; 9] =
    ["md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"];
/// All it exports.
const NAMES: [&str; 14] = [
    "md4",
    "md5",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "sha512_224",
    "sha512_256",
    "ripemd160",
    "createHash",
    "createHMAC",
    "hmac",
    "hexEncode",
    "randomBytes",
];
/// `randomBytes` gives at most this many: 64 MiB.
const RANDOM_MAX: f64 = 67_108_864.0;

impl ModuleDef for Crypto {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        for name in HASHES {
            let hash = move |ctx: Ctx<'js>, text: Opt<Value<'js>>, encoding: Opt<String>| {
                let text = input(&ctx, text.0.as_ref()).map_err(|_| failed(&ctx, name))?;
                let mut digest = known(&ctx, Digest::new(name), name)?;
                digest.update(&text);
                output(&ctx, &digest.digest(), &encoding.0.unwrap_or_default())
            };
            all.set(name, Function::new(ctx.clone(), hash)?)?;
        }
        all.set("createHash", Function::new(ctx.clone(), create_hash)?)?;
        all.set("createHMAC", Function::new(ctx.clone(), create_hmac)?)?;
        all.set("hmac", Function::new(ctx.clone(), hmac)?)?;
        let encode = |ctx: Ctx<'js>, text: Opt<Value<'js>>| {
            Ok::<_, rquickjs::Error>(hex(&input(&ctx, text.0.as_ref())?))
        };
        all.set("hexEncode", Function::new(ctx.clone(), encode)?)?;
        all.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
        export_all(exports, &all, &NAMES)
    }
}

/// k6's error for an input that cannot be hashed: the pending exception, with the hash's name before it.
fn failed(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    let pending = ctx.catch();
    let message = pending.as_object().and_then(|error| error.get::<_, String>("message").ok());
    Exception::throw_message(ctx, &format!("{name} failed: {}", message.unwrap_or_default()))
}

fn known(ctx: &Ctx<'_>, digest: Option<Digest>, name: &str) -> Result<Digest> {
    digest.ok_or_else(|| Exception::throw_message(ctx, &format!("invalid algorithm: {name}")))
}

fn create_hash<'js>(ctx: Ctx<'js>, name: String) -> Result<Object<'js>> {
    let digest = known(&ctx, Digest::new(&name), &name)?;
    hasher(&ctx, digest)
}

fn create_hmac<'js>(ctx: Ctx<'js>, name: String, key: Opt<Value<'js>>) -> Result<Object<'js>> {
    let key = input(&ctx, key.0.as_ref())?;
    let digest = known(&ctx, Digest::keyed(&name, &key), &name)?;
    hasher(&ctx, digest)
}

/// An object with `update` and `digest`. What it has seen is its own.
fn hasher<'js>(ctx: &Ctx<'js>, digest: Digest) -> Result<Object<'js>> {
    let state = Rc::new(RefCell::new(digest));
    let object = Object::new(ctx.clone())?;
    let seen = Rc::clone(&state);
    let update = move |ctx: Ctx<'js>, text: Opt<Value<'js>>| {
        seen.borrow_mut().update(&input(&ctx, text.0.as_ref())?);
        Ok::<_, rquickjs::Error>(())
    };
    object.set("update", Function::new(ctx.clone(), update)?)?;
    let digest = move |ctx: Ctx<'js>, encoding: Opt<String>| {
        output(&ctx, &state.borrow().digest(), &encoding.0.unwrap_or_default())
    };
    object.set("digest", Function::new(ctx.clone(), digest)?)?;
    Ok(object)
}

fn hmac<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: Opt<Value<'js>>,
    text: Opt<Value<'js>>,
    encoding: Opt<String>,
) -> Result<Value<'js>> {
    let key = input(&ctx, key.0.as_ref())?;
    let mut digest = known(&ctx, Digest::keyed(&name, &key), &name)?;
    digest.update(&input(&ctx, text.0.as_ref())?);
    output(&ctx, &digest.digest(), &encoding.0.unwrap_or_default())
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: Opt<Value<'js>>) -> Result<Value<'js>> {
    let size = size.0.as_ref().and_then(number_of).filter(|size| (1.0..=RANDOM_MAX).contains(size));
    let Some(size) = size else { return Err(Exception::throw_message(&ctx, "invalid size")) };
    buffer(&ctx, &webcrypto::random(&ctx, size as usize)?)
}
