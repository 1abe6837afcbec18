//! Globals that browsers have and k6 lacks: `URL`, `TextEncoder`, `structuredClone`, `atob`, `performance` and the like.

use base64::Engine as _;
use percent_encoding::percent_decode_str;
use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use url::{Url, quirks};

use super::bytes::{Base64, base64, buffer, of_buffer};
use super::js_builtins::js_builtin;
use crate::runtime::current::vu_of;
use crate::runtime::values::string_of;

/// What it sets.
const NAMES: [&str; 8] = [
    "URL",
    "URLSearchParams",
    "TextEncoder",
    "TextDecoder",
    "structuredClone",
    "performance",
    "atob",
    "btoa",
];

/// Sets the globals.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let native = Object::new(ctx.clone())?;
    native.set("parse", Function::new(ctx.clone(), parsed)?)?;
    native.set("part", Function::new(ctx.clone(), part)?)?;
    native.set("change", Function::new(ctx.clone(), changed)?)?;
    native.set("unescape", Function::new(ctx.clone(), unescaped)?)?;
    native.set("encode", Function::new(ctx.clone(), encoded)?)?;
    native.set("encoding", Function::new(ctx.clone(), encoding)?)?;
    native.set("decode", Function::new(ctx.clone(), decoded)?)?;
    native.set("unfinished", Function::new(ctx.clone(), unfinished)?)?;
    native.set("now", Function::new(ctx.clone(), now)?)?;
    native.set("atob", Function::new(ctx.clone(), atob)?)?;
    native.set("btoa", Function::new(ctx.clone(), btoa)?)?;
    let all: Object<'_> = js_builtin(ctx, "web", include_str!("js/web.js"), native)?;
    let globals = ctx.globals();
    NAMES.iter().try_for_each(|name| globals.set(*name, all.get::<_, Value<'_>>(*name)?))
}

/// A URL in its normal form, if it is one.
fn parsed(text: String, base: Option<String>) -> Option<String> {
    let base = base.map(|base| Url::parse(&base)).transpose().ok()?;
    Url::options().base_url(base.as_ref()).parse(&text).ok().map(String::from)
}

/// A part of a URL by its name in the API.
pub(super) fn part(href: String, name: String) -> String {
    let Ok(url) = Url::parse(&href) else { return String::new() };
    match name.as_str() {
        "origin" => quirks::origin(&url),
        "protocol" => quirks::protocol(&url).to_owned(),
        "username" => quirks::username(&url).to_owned(),
        "password" => quirks::password(&url).to_owned(),
        "host" => quirks::host(&url).to_owned(),
        "hostname" => quirks::hostname(&url).to_owned(),
        "port" => quirks::port(&url).to_owned(),
        "pathname" => quirks::pathname(&url).to_owned(),
        "search" => quirks::search(&url).to_owned(),
        "hash" => quirks::hash(&url).to_owned(),
        _ => href,
    }
}

/// A URL with one part changed; what cannot be changed stays, but for `href` itself.
fn changed(href: String, name: String, value: String) -> Option<String> {
    if name == "href" {
        return Url::parse(&value).ok().map(String::from);
    }
    let mut url = Url::parse(&href).ok()?;
    let set = match name.as_str() {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        other => {
            match other {
                "pathname" => quirks::set_pathname(&mut url, &value),
                "search" => quirks::set_search(&mut url, &value),
                _ => quirks::set_hash(&mut url, &value),
            }
            Ok(())
        }
    };
    // The API passes over what a part cannot be set to.
    Some(if set.is_ok() { String::from(url) } else { href })
}

/// A text with its percent escapes decoded; bytes that are not UTF-8 become U+FFFD.
fn unescaped(text: String) -> String {
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

fn encoded<'js>(ctx: Ctx<'js>, text: String) -> Result<Value<'js>> {
    buffer(&ctx, text.as_bytes())
}

/// The encoding that a label means, of those we have.
fn encoding(label: String) -> Option<&'static str> {
    match label.trim().to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" => Some("utf-8"),
        "utf-16" | "utf-16le" | "unicode" | "ucs-2" => Some("utf-16le"),
        "utf-16be" => Some("utf-16be"),
        "latin1" | "iso-8859-1" | "ascii" | "us-ascii" | "windows-1252" => Some("windows-1252"),
        _ => None,
    }
}

/// Bytes as text; with `fatal`, null if they are malformed.
fn decoded<'js>(bytes: Value<'js>, encoding: String, fatal: bool) -> Result<Option<String>> {
    let bytes = of_buffer(&bytes)?.unwrap_or_default();
    if encoding == "windows-1252" {
        return Ok(Some(bytes.iter().map(|byte| latin(*byte)).collect()));
    }
    if encoding == "utf-8" {
        return Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => Some(text.to_owned()),
            Err(_) => (!fatal).then(|| String::from_utf8_lossy(&bytes).into_owned()),
        });
    }
    let pairs = bytes.chunks_exact(2).map(|pair| match encoding.as_str() {
        "utf-16be" => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    });
    let units: Vec<u16> = pairs.collect();
    let odd = !bytes.len().is_multiple_of(2);
    match String::from_utf16(&units) {
        Ok(text) if !odd => Ok(Some(text)),
        _ if fatal => Ok(None),
        _ => Ok(Some(String::from_utf16_lossy(&units) + if odd { "\u{fffd}" } else { "" })),
    }
}

/// A byte of windows-1252.
fn latin(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..0xa0 => HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

/// How many bytes at the end begin a letter whose rest is still to come.
fn unfinished<'js>(bytes: Value<'js>, encoding: String) -> Result<usize> {
    let bytes = of_buffer(&bytes)?.unwrap_or_default();
    Ok(match encoding.as_str() {
        "utf-8" => match std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..]) {
            Err(_) => (1..=bytes.len().min(3))
                .find(|back| begins_more(bytes[bytes.len() - back], *back))
                .unwrap_or(0),
            Ok(_) => 0,
        },
        "utf-16le" | "utf-16be" => bytes.len() % 2,
        _ => 0,
    })
}

/// Whether a byte of UTF-8 begins a letter of more than `len` bytes.
fn begins_more(byte: u8, len: usize) -> bool {
    let whole = match byte {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 0,
    };
    whole > len
}

/// The run's time in milliseconds.
fn now(ctx: Ctx<'_>) -> Result<f64> {
    Ok(vu_of(&ctx)?.host.now().0 as f64 / 1e6)
}

/// Base64 to a string of bytes, a letter each.
fn atob<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<String> {
    let text = text.0.as_ref().map(string_of).transpose()?.unwrap_or_default();
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bare = match text.len() % 4 {
        0 => text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(&text),
        _ => &text,
    };
    match base64(Base64::RawStd).decode(bare) {
        Ok(bytes) => Ok(bytes.into_iter().map(char::from).collect()),
        Err(_) => {
            Err(Exception::throw_message(&ctx, "InvalidCharacterError: the string is not base64"))
        }
    }
}

/// A string of bytes, a letter each, to base64.
fn btoa<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<String> {
    let text = text.0.as_ref().map(string_of).transpose()?.unwrap_or_default();
    let bytes: std::result::Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    match bytes {
        Ok(bytes) => Ok(base64(Base64::Std).encode(bytes)),
        Err(_) => Err(Exception::throw_message(
            &ctx,
            "InvalidCharacterError: the string has characters outside of Latin1",
        )),
    }
}
