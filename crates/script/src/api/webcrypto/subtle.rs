//! What computes for the global `crypto`; what the standard wants of arguments is in `js/webcrypto.js`.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use rsa::rand_core::{OsRng, RngCore as _};

use super::super::bytes::{buffer, of_buffer};
use super::super::hash::hash;
use super::super::js_builtins::js_builtin;
use super::asymmetric::Signed;
use super::error::{CryptoError, CryptoResult, plain};
use super::key::Key;
use super::symmetric::Pbkdf2;
use super::{asymmetric, elliptic, symmetric};
use crate::runtime::current::{interruptible, on_worker_stack};
use crate::runtime::ffi::OpaqueHandle;

/// Sets the global.
pub(in crate::api) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let native = Object::new(ctx.clone())?;
    native.set("random", Function::new(ctx.clone(), random_buffer)?)?;
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    native.set("secret", Function::new(ctx.clone(), secret)?)?;
    native.set("bytes", Function::new(ctx.clone(), bytes)?)?;
    native.set("sign", Function::new(ctx.clone(), sign)?)?;
    native.set("verify", Function::new(ctx.clone(), verify)?)?;
    native.set("cipher", Function::new(ctx.clone(), cipher)?)?;
    native.set("generate", Function::new(ctx.clone(), generate)?)?;
    native.set("read", Function::new(ctx.clone(), read)?)?;
    native.set("write", Function::new(ctx.clone(), write)?)?;
    native.set("derive", Function::new(ctx.clone(), derive)?)?;
    let crypto: Value<'_> =
        js_builtin(ctx, "webcrypto", include_str!("../js/webcrypto.js"), native)?;
    ctx.globals().set("crypto", crypto)
}

/// Random bytes of the machine.
pub(in crate::api) fn random(ctx: &Ctx<'_>, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    OsRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| Exception::throw_message(ctx, &format!("random bytes: {error}")))?;
    Ok(bytes)
}

/// Throws what went wrong with the name that the standard gives it.
fn or_throw<T>(ctx: &Ctx<'_>, done: CryptoResult<T>) -> Result<T> {
    done.or_else(|CryptoError(name, text)| {
        let error = Exception::from_message(ctx.clone(), &text)?.into_object();
        error.set("name", name)?;
        Err(ctx.throw(error.into_value()))
    })
}

fn input(value: &Value<'_>) -> Result<Vec<u8>> {
    Ok(of_buffer(value)?.unwrap_or_default())
}

fn held<'js>(ctx: &Ctx<'js>, key: Key) -> Result<Class<'js, OpaqueHandle>> {
    Class::instance(ctx.clone(), OpaqueHandle::of(key))
}

fn key(held: &Class<'_, OpaqueHandle>) -> CryptoResult<Rc<Key>> {
    let any = Rc::clone(&held.borrow().0);
    any.downcast::<Key>().map_err(|_| CryptoError("InvalidAccessError", "it is no key".to_owned()))
}

fn random_buffer<'js>(ctx: Ctx<'js>, len: usize) -> Result<Value<'js>> {
    let bytes = random(&ctx, len.min(1 << 20))?;
    buffer(&ctx, &bytes)
}

fn digest<'js>(ctx: Ctx<'js>, name: String, data: Value<'js>) -> Result<Value<'js>> {
    let name = or_throw(&ctx, plain(&name))?;
    buffer(&ctx, &hash(name, &input(&data)?).unwrap_or_default())
}

fn secret<'js>(ctx: Ctx<'js>, bytes: Value<'js>) -> Result<Class<'js, OpaqueHandle>> {
    held(&ctx, Key::Secret(input(&bytes)?))
}

fn bytes<'js>(ctx: Ctx<'js>, of: Class<'js, OpaqueHandle>) -> Result<Value<'js>> {
    match &*or_throw(&ctx, key(&of))? {
        Key::Secret(bytes) => buffer(&ctx, bytes),
        _ => or_throw(&ctx, Err(CryptoError::operation("it is no secret key"))),
    }
}

/// `sign(algorithm, key, data)`; the algorithm's fields are its own: name, hash, saltLength.
fn sign<'js>(
    ctx: Ctx<'js>,
    algorithm: Object<'js>,
    of: Class<'js, OpaqueHandle>,
    data: Value<'js>,
) -> Result<Value<'js>> {
    let (name, hash, salt) = signing(&algorithm)?;
    let (key, data) = (or_throw(&ctx, key(&of))?, input(&data)?);
    let key = &*key;
    let done = on_worker_stack(&ctx, || match key {
        Key::Secret(secret) => symmetric::mac(&hash, secret, &data),
        Key::RsaPrivate(private) => asymmetric::sign(private, &name, &hash, salt, &data),
        Key::EcPrivate(private) => private.sign(&hash, &data),
        _ => Err(CryptoError::operation("the key cannot sign")),
    });
    buffer(&ctx, &or_throw(&ctx, done)?)
}

fn verify<'js>(
    ctx: Ctx<'js>,
    algorithm: Object<'js>,
    of: Class<'js, OpaqueHandle>,
    signature: Value<'js>,
    data: Value<'js>,
) -> Result<bool> {
    let (name, hash, salt) = signing(&algorithm)?;
    let (key, data, signature) = (or_throw(&ctx, key(&of))?, input(&data)?, input(&signature)?);
    let key = &*key;
    let done = on_worker_stack(&ctx, || match key {
        Key::Secret(secret) => symmetric::mac(&hash, secret, &data).map(|mac| mac == signature),
        Key::RsaPublic(public) => asymmetric::verify(
            public,
            &name,
            &hash,
            salt,
            &Signed { data: &data, signature: &signature },
        ),
        Key::EcPublic(public) => public.verify(&hash, &data, &signature),
        _ => Err(CryptoError::operation("the key cannot verify")),
    });
    or_throw(&ctx, done)
}

fn signing(algorithm: &Object<'_>) -> Result<(String, String, usize)> {
    let salt: Option<usize> = algorithm.get("saltLength")?;
    Ok((algorithm.get("name")?, algorithm.get("hash")?, salt.unwrap_or(0)))
}

/// `cipher(encrypts, algorithm, key, data)`.
fn cipher<'js>(
    ctx: Ctx<'js>,
    encrypts: bool,
    algorithm: Object<'js>,
    of: Class<'js, OpaqueHandle>,
    data: Value<'js>,
) -> Result<Value<'js>> {
    let bytes = |name: &str| -> Result<Vec<u8>> { input(&algorithm.get::<_, Value<'js>>(name)?) };
    let name: String = algorithm.get("name")?;
    let (key, data) = (or_throw(&ctx, key(&of))?, input(&data)?);
    let done = match (&*key, name.as_str()) {
        (Key::Secret(secret), "AES-CBC") => symmetric::cbc(encrypts, secret, &bytes("iv")?, &data),
        (Key::Secret(secret), "AES-CTR") => {
            let bits: u32 = algorithm.get("length")?;
            symmetric::ctr(secret, &bytes("counter")?, bits, &data)
        }
        (Key::Secret(secret), "AES-GCM") => {
            let tag: u32 = algorithm.get("tagLength")?;
            let with = symmetric::Gcm { iv: bytes("iv")?, extra: bytes("additionalData")?, tag };
            symmetric::gcm(encrypts, secret, &with, &data)
        }
        (Key::RsaPublic(public), _) => {
            let (hash, label) = (algorithm.get::<_, String>("hash")?, bytes("label")?);
            on_worker_stack(&ctx, || asymmetric::encrypt(public, &hash, &label, &data))
        }
        (Key::RsaPrivate(private), _) => {
            let (hash, label) = (algorithm.get::<_, String>("hash")?, bytes("label")?);
            on_worker_stack(&ctx, || asymmetric::decrypt(private, &hash, &label, &data))
        }
        _ => Err(CryptoError::operation("the key cannot encrypt")),
    };
    buffer(&ctx, &or_throw(&ctx, done)?)
}

/// A pair of keys: the private one and the public one.
fn generate<'js>(ctx: Ctx<'js>, algorithm: Object<'js>) -> Result<Vec<Class<'js, OpaqueHandle>>> {
    let curve: Option<String> = algorithm.get("namedCurve")?;
    let pair = match curve {
        Some(curve) => on_worker_stack(&ctx, || elliptic::generate(&curve)),
        None => {
            let bits: usize = algorithm.get("modulusLength")?;
            let exponent = input(&algorithm.get::<_, Value<'js>>("publicExponent")?)?;
            on_worker_stack(&ctx, || asymmetric::generate(bits, &exponent))
        }
    };
    let (private, public) = or_throw(&ctx, pair)?;
    Ok(vec![held(&ctx, private)?, held(&ctx, public)?])
}

/// `read(format, curve or null, data)`: a key of its bytes, or of the fields of a JWK.
fn read<'js>(
    ctx: Ctx<'js>,
    format: String,
    curve: Option<String>,
    data: Value<'js>,
) -> Result<Class<'js, OpaqueHandle>> {
    let key = if format == "jwk" {
        let fields = data.as_object().cloned().map_or_else(|| Object::new(ctx.clone()), Ok)?;
        let field = |name: &str| fields.get::<_, Option<String>>(name).ok().flatten();
        match &curve {
            Some(curve) => elliptic::of_jwk(curve, field),
            None => asymmetric::of_jwk(field),
        }
    } else {
        let bytes = input(&data)?;
        on_worker_stack(&ctx, || match &curve {
            Some(curve) => elliptic::read(&format, curve, &bytes),
            None => asymmetric::read(&format, &bytes),
        })
    };
    held(&ctx, or_throw(&ctx, key)?)
}

/// `write(format, key)`: a key's bytes, or the fields of its JWK.
fn write<'js>(ctx: Ctx<'js>, format: String, of: Class<'js, OpaqueHandle>) -> Result<Value<'js>> {
    let key = or_throw(&ctx, key(&of))?;
    let key = &*key;
    if format == "jwk" {
        let fields = on_worker_stack(&ctx, || match key {
            Key::RsaPrivate(private) => asymmetric::private_jwk(private),
            Key::RsaPublic(public) => Ok(asymmetric::public_jwk(public)),
            Key::EcPrivate(private) => private.jwk(),
            Key::EcPublic(public) => public.jwk(),
            Key::Secret(_) => Err(CryptoError::operation("it is a secret key")),
        });
        let fields = or_throw(&ctx, fields)?;
        let object = Object::new(ctx)?;
        fields.into_iter().try_for_each(|(name, value)| object.set(name, value))?;
        return Ok(object.into_value());
    }
    let bytes = on_worker_stack(&ctx, || match key {
        Key::RsaPrivate(private) => asymmetric::write_private(private),
        Key::RsaPublic(public) => asymmetric::write_public(public),
        Key::EcPrivate(private) => private.write(),
        Key::EcPublic(public) => public.write(&format),
        Key::Secret(_) => Err(CryptoError::operation("it is a secret key")),
    });
    buffer(&ctx, &or_throw(&ctx, bytes)?)
}

/// `derive(algorithm, key, other key or null, bits)`.
fn derive<'js>(
    ctx: Ctx<'js>,
    algorithm: Object<'js>,
    of: Class<'js, OpaqueHandle>,
    other: Option<Class<'js, OpaqueHandle>>,
    bits: usize,
) -> Result<Value<'js>> {
    let own = or_throw(&ctx, key(&of))?;
    let done = match (&*own, other) {
        (Key::Secret(secret), None) => {
            let salt = input(&algorithm.get::<_, Value<'js>>("salt")?)?;
            let hash: String = algorithm.get("hash")?;
            let rounds: u32 = algorithm.get("iterations")?;
            let with = Pbkdf2 { hash: &hash, salt: &salt, rounds, len: bits / 8 };
            interruptible(&ctx, |stops| symmetric::pbkdf2(secret, &with, stops))?
        }
        (Key::EcPrivate(private), Some(other)) => match &*or_throw(&ctx, key(&other))? {
            Key::EcPublic(public) => on_worker_stack(&ctx, || private.shared(public)),
            _ => Err(CryptoError("InvalidAccessError", "the other key is not public".to_owned())),
        },
        _ => Err(CryptoError::operation("nothing can be derived from the key")),
    };
    buffer(&ctx, &or_throw(&ctx, done)?)
}
