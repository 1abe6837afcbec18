//! Module `k6/crypto/x509`: what certificates say.

use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use serde_json::{Map, json};
use x509_parser::prelude::{
    FromDer as _, GeneralName, ParsedExtension, Pem, X509Certificate, X509Name,
};
use x509_parser::public_key::PublicKey;

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
            with(&ctx, pem.0, |ctx, it| given(ctx, &named(it.issuer())))
        };
        all.set("getIssuer", Function::new(ctx.clone(), issuer)?)?;
        let subject = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| {
            with(&ctx, pem.0, |ctx, it| given(ctx, &named(it.subject())))
        };
        all.set("getSubject", Function::new(ctx.clone(), subject)?)?;
        export_all(exports, &all, &NAMES)
    }
}

/// Reads the certificate of a PEM text and makes something of it.
fn with<'js, T>(
    ctx: &Ctx<'js>,
    pem: Option<Value<'js>>,
    make: impl FnOnce(&Ctx<'js>, &X509Certificate<'_>) -> Result<T>,
) -> Result<T> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    let text = input(ctx, pem.as_ref())?;
    let pem = Pem::iter_from_buffer(&text).next().and_then(std::result::Result::ok);
    let pem = pem.ok_or_else(|| throw("failed to decode certificate PEM file"))?;
    let (_, certificate) = X509Certificate::from_der(&pem.contents)
        .map_err(|error| throw(&format!("failed to parse certificate: {error}")))?;
    make(ctx, &certificate)
}

fn given<'js>(ctx: &Ctx<'js>, json: &serde_json::Value) -> Result<Value<'js>> {
    ctx.json_parse(json.to_string())
}

fn whole<'js>(ctx: &Ctx<'js>, it: &X509Certificate<'_>) -> Result<Value<'js>> {
    let (algorithm, key) = public_key(ctx, it)?;
    let time = |time: x509_parser::time::ASN1Time| {
        let at = time.to_datetime();
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            at.year(),
            u8::from(at.month()),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        )
    };
    let json = json!({
        "subject": named(it.subject()),
        "issuer": named(it.issuer()),
        "notBefore": time(it.validity().not_before),
        "notAfter": time(it.validity().not_after),
        "altNames": alternatives(it),
        "signatureAlgorithm": signature(it),
        "fingerPrint": hash("sha1", it.as_raw()).unwrap_or_default(),
        "publicKey": { "algorithm": algorithm },
    });
    let all = given(ctx, &json)?;
    if let Some(object) = all.as_object() {
        object.get::<_, Object<'js>>("publicKey")?.set("key", key)?;
    }
    Ok(all)
}

/// The key's algorithm, and what it consists of; numbers are `BigInt`s.
fn public_key<'js>(ctx: &Ctx<'js>, it: &X509Certificate<'_>) -> Result<(&'static str, Value<'js>)> {
    let big = |bytes: &[u8]| -> Result<Value<'js>> {
        let hex = super::bytes::hex(bytes);
        let make: Function<'js> = ctx.globals().get("BigInt")?;
        make.call((format!("0x{}", if hex.is_empty() { "0" } else { &hex }),))
    };
    let key = Object::new(ctx.clone())?;
    match it.public_key().parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            key.set("n", big(rsa.modulus)?)?;
            key.set("e", rsa.try_exponent().unwrap_or_default() as f64)?;
            Ok(("RSA", key.into_value()))
        }
        Ok(PublicKey::EC(point)) => {
            let coordinates = point.data().get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            key.set("x", big(x)?)?;
            key.set("y", big(y)?)?;
            let raw = buffer(ctx, point.data())?;
            key.set("raw", raw)?;
            Ok(("ECDSA", key.into_value()))
        }
        Ok(PublicKey::DSA(y)) => {
            key.set("y", big(y)?)?;
            Ok(("DSA", key.into_value()))
        }
        _ => Err(Exception::throw_message(ctx, "unsupported public key algorithm")),
    }
}

/// The signature's algorithm as Go calls it.
fn signature(it: &X509Certificate<'_>) -> &'static str {
    match it.signature_algorithm.algorithm.to_id_string().as_str() {
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
fn alternatives(it: &X509Certificate<'_>) -> Vec<String> {
    let mut found: Vec<(u8, String)> = Vec::new();
    for extension in it.extensions() {
        let ParsedExtension::SubjectAlternativeName(names) = extension.parsed_extension() else {
            continue;
        };
        found.extend(names.general_names.iter().filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((0, (*name).to_owned())),
            GeneralName::RFC822Name(name) => Some((1, (*name).to_owned())),
            GeneralName::IPAddress(bytes) => address(bytes).map(|text| (2, text)),
            GeneralName::URI(name) => Some((3, (*name).to_owned())),
            _ => None,
        }));
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
fn named(name: &X509Name<'_>) -> serde_json::Value {
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
    let parts: Vec<(String, String)> = name
        .iter_attributes()
        .map(|part| (part.attr_type().to_id_string(), part.as_str().unwrap_or_default().to_owned()))
        .collect();
    let values = |id: &str| -> Vec<&String> {
        parts.iter().filter(|(known, _)| known == id).map(|(_, value)| value).collect()
    };
    let mut fields = Map::new();
    for (id, word) in FIELDS {
        let value = match word {
            "organizationalUnitName" => json!(values(id)),
            // Of several the last is taken, as Go does for the common name, and the first of others.
            "commonName" => json!(values(id).last().map(|v| v.as_str()).unwrap_or_default()),
            _ => json!(values(id).first().map(|v| v.as_str()).unwrap_or_default()),
        };
        fields.insert(word.to_owned(), value);
    }
    let all = parts.iter().map(|(kind, value)| json!({ "type": kind, "value": value }));
    fields.insert("names".to_owned(), all.collect());
    serde_json::Value::Object(fields)
}
