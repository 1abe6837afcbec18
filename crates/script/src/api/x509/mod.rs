//! Module `k6/crypto/x509`: what certificates say.

mod certificate;
mod der;

use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use serde_json::{Map, json};

use self::certificate::{Attribute, Certificate};
use self::der::{Elements, decode_pem, tag};
use super::bytes::{buffer, input};
use super::hash::hash;
use super::js_builtins::{declare_all, export_all};

/// The module.
pub(super) struct X509;

const NAMES: [&str; 4] = ["parse", "getAltNames", "getIssuer", "getSubject"];

impl ModuleDef for X509 {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        let parse = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| with(&ctx, pem.0, whole);
        all.set("parse", Function::new(ctx.clone(), parse)?)?;
        let names = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| {
            with(&ctx, pem.0, |ctx, it| given(ctx, &json!(alternatives(it))))
        };
        all.set("getAltNames", Function::new(ctx.clone(), names)?)?;
        let issuer = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| {
            with(&ctx, pem.0, |ctx, it| given(ctx, &named(&it.issuer)))
        };
        all.set("getIssuer", Function::new(ctx.clone(), issuer)?)?;
        let subject = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| {
            with(&ctx, pem.0, |ctx, it| given(ctx, &named(&it.subject)))
        };
        all.set("getSubject", Function::new(ctx.clone(), subject)?)?;
        export_all(exports, &all, &NAMES)
    }
}

/// Reads the certificate of a PEM text and makes something of it.
fn with<'js, T>(
    ctx: &Ctx<'js>,
    pem: Option<Value<'js>>,
    make: impl FnOnce(&Ctx<'js>, &Certificate<'_>) -> Result<T>,
) -> Result<T> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    let text = input(ctx, pem.as_ref())?;
    let der = decode_pem(&text).ok_or_else(|| throw("failed to decode certificate PEM file"))?;
    let certificate = Certificate::parse(&der)
        .map_err(|error| throw(&format!("failed to parse certificate: {error}")))?;
    make(ctx, &certificate)
}

fn given<'js>(ctx: &Ctx<'js>, json: &serde_json::Value) -> Result<Value<'js>> {
    ctx.json_parse(json.to_string())
}

fn whole<'js>(ctx: &Ctx<'js>, it: &Certificate<'_>) -> Result<Value<'js>> {
    let (algorithm, key) = public_key(ctx, it)?;
    let json = json!({
        "subject": named(&it.subject),
        "issuer": named(&it.issuer),
        "notBefore": it.not_before,
        "notAfter": it.not_after,
        "altNames": alternatives(it),
        "signatureAlgorithm": signature(&it.signature),
        "fingerPrint": hash("sha1", it.whole).unwrap_or_default(),
        "publicKey": { "algorithm": algorithm },
    });
    let all = given(ctx, &json)?;
    if let Some(object) = all.as_object() {
        object.get::<_, Object<'js>>("publicKey")?.set("key", key)?;
    }
    Ok(all)
}

/// The key's algorithm, and what it consists of; numbers are `BigInt`s.
fn public_key<'js>(ctx: &Ctx<'js>, it: &Certificate<'_>) -> Result<(&'static str, Value<'js>)> {
    let big = |bytes: &[u8]| -> Result<Value<'js>> {
        let hex = super::bytes::hex(bytes);
        let make: Function<'js> = ctx.globals().get("BigInt")?;
        make.call((format!("0x{}", if hex.is_empty() { "0" } else { &hex }),))
    };
    let key = Object::new(ctx.clone())?;
    let unsupported = || Exception::throw_message(ctx, "unsupported public key algorithm");
    let bytes = it.key.bytes;
    match it.key.algorithm.as_str() {
        "1.2.840.113549.1.1.1" => {
            let (modulus, exponent) = rsa_key(bytes).ok_or_else(unsupported)?;
            key.set("n", big(modulus)?)?;
            key.set("e", exponent as f64)?;
            Ok(("RSA", key.into_value()))
        }
        "1.2.840.10045.2.1" => {
            let coordinates = bytes.get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            key.set("x", big(x)?)?;
            key.set("y", big(y)?)?;
            key.set("raw", buffer(ctx, bytes)?)?;
            Ok(("ECDSA", key.into_value()))
        }
        "1.2.840.10040.4.1" => {
            let y = Elements(bytes).integer().ok_or_else(unsupported)?;
            key.set("y", big(y)?)?;
            Ok(("DSA", key.into_value()))
        }
        _ => Err(unsupported()),
    }
}

/// The modulus and the exponent of an RSA key (RFC 8017, A.1.1). An exponent below 0 or above 64 bits is 0.
fn rsa_key(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let mut key = Elements(bytes).enter(tag::SEQUENCE)?;
    let (modulus, exponent) = (key.integer()?, key.integer()?);
    let is_small = exponent.len() <= 8 && exponent[0] < 0x80;
    let sum = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    Some((modulus, if is_small { exponent.iter().fold(0, sum) } else { 0 }))
}

/// The signature's algorithm as Go calls it.
fn signature(algorithm: &str) -> &'static str {
    match algorithm {
        "1.2.840.113549.1.1.2" => "MD2-RSA",
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.113549.1.1.10" => "SHA256-RSAPSS",
        "1.2.840.10040.4.3" => "DSA-SHA1",
        "2.16.840.1.101.3.4.3.2" => "DSA-SHA256",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        "1.3.101.112" => "Ed25519",
        _ => "UnknownSignatureAlgorithm",
    }
}

/// The alternative names: of hosts, of mail, addresses, URIs, in Go's order.
fn alternatives(it: &Certificate<'_>) -> Vec<String> {
    let mut found: Vec<(u8, String)> = Vec::new();
    for name in &it.alternative_names {
        let text = std::str::from_utf8(name.bytes).map(str::to_owned).ok();
        found.extend(match name.number {
            2 => text.map(|text| (0, text)),
            1 => text.map(|text| (1, text)),
            7 => address(name.bytes).map(|text| (2, text)),
            6 => text.map(|text| (3, text)),
            _ => None,
        });
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, name)| name).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}

/// A name's fields by k6's words, and all of them in their order.
fn named(name: &[Attribute<'_>]) -> serde_json::Value {
    const FIELDS: [(&str, &str); 8] = [
        ("2.5.4.3", "commonName"),
        ("2.5.4.6", "country"),
        ("2.5.4.17", "postalCode"),
        ("2.5.4.8", "stateOrProvinceName"),
        ("2.5.4.7", "localityName"),
        ("2.5.4.9", "streetAddress"),
        ("2.5.4.10", "organizationName"),
        ("2.5.4.11", "organizationalUnitName"),
    ];
    let values = |id: &str| -> Vec<&str> {
        name.iter().filter(|part| part.kind == id).map(|part| part.value).collect()
    };
    let mut fields = Map::new();
    for (id, word) in FIELDS {
        let value = match word {
            "organizationalUnitName" => json!(values(id)),
            // Of several the last is taken, as Go does for the common name, and the first of others.
            "commonName" => json!(values(id).last().copied().unwrap_or_default()),
            _ => json!(values(id).first().copied().unwrap_or_default()),
        };
        fields.insert(word.to_owned(), value);
    }
    let all = name.iter().map(|part| json!({ "type": part.kind, "value": part.value }));
    fields.insert("names".to_owned(), all.collect());
    serde_json::Value::Object(fields)
}
