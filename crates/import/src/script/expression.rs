//! Texts as expressions of JavaScript.

use super::library::Helper;
use super::names::{FileForm, Names, is_literal};
use crate::{Digest, DigestAlgorithm, DigestForm, Encoding, Piece, Source, Text, Value, quote};

/// The expression of a text.
pub(super) fn text(names: &mut Names, text: &Text) -> String {
    if is_literal(text) {
        return literal(&text.with_values_as(""));
    }
    match text.pieces.as_slice() {
        [Piece::Value(one)] => value(names, one),
        pieces => format!("`{}`", template(names, pieces)),
    }
}

/// The expression of an address: its origin is a constant.
pub(super) fn address(names: &mut Names, url: &Text) -> String {
    let start = url.literal_start().to_owned();
    let Some((origin, rest)) = names.split_origin(&start) else { return text(names, url) };
    let mut out = format!("`${{{origin}}}{}", quote::template_part(rest));
    out.push_str(&template(names, &url.pieces[1..]));
    out.push('`');
    out
}

/// A literal: a string, or a template if it has several lines.
fn literal(text: &str) -> String {
    if text.contains('\n') && !text.contains('\r') && text.lines().count() > 1 {
        format!("`{}`", quote::template_part(text))
    } else {
        quote::string(text)
    }
}

fn template(names: &mut Names, pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Literal(text) => quote::template_part(text),
            Piece::Value(one) => format!("${{{}}}", value(names, one)),
        })
        .collect()
}

/// The expression of a value with what is done to it.
pub(super) fn value(names: &mut Names, value: &Value) -> String {
    let start = source(names, &value.source);
    value.encodings.iter().fold(start, |inner, encoding| encoded(names, *encoding, &inner))
}

fn source(names: &mut Names, source: &Source) -> String {
    match source {
        Source::Env { name, default } => names.environment(name, default.as_deref()),
        Source::Variable(name) => names.found(name),
        Source::Uuid => {
            names.helpers.insert(Helper::Uuid);
            "uuid()".to_owned()
        }
        Source::UnixMilliseconds => "Date.now()".to_owned(),
        Source::UnixSeconds => "Math.floor(Date.now() / 1000)".to_owned(),
        Source::IsoTime => "new Date().toISOString()".to_owned(),
        Source::RandomInteger { min, max } => {
            let width = max.saturating_sub(*min).max(1);
            format!("({min} + Math.floor(Math.random() * {width}))")
        }
        Source::Cookie { url, name } => {
            names.helpers.insert(Helper::Cookie);
            let url = address(names, &Text::literal(url));
            format!("cookie({url}, {})", quote::string(name))
        }
        Source::Digest(digest) => digest_call(names, digest),
        Source::File { path } => names.file(path, FileForm::Text),
    }
}

fn digest_call(names: &mut Names, digest: &Digest) -> String {
    names.helpers.insert(Helper::Crypto);
    let algorithm = match digest.algorithm {
        DigestAlgorithm::Md5 => "md5",
        DigestAlgorithm::Sha1 => "sha1",
        DigestAlgorithm::Sha256 => "sha256",
        DigestAlgorithm::Sha512 => "sha512",
    };
    let form = match digest.form {
        DigestForm::Hex => "hex",
        DigestForm::Base64 => "base64",
    };
    let message = text(names, &digest.message);
    match &digest.key {
        Some(key) => {
            format!("crypto.hmac('{algorithm}', {}, {message}, '{form}')", text(names, key))
        }
        None => format!("crypto.{algorithm}({message}, '{form}')"),
    }
}

fn encoded(names: &mut Names, encoding: Encoding, inner: &str) -> String {
    let helper = match encoding {
        Encoding::UrlForm => Some(Helper::FormEncode),
        Encoding::Base64 => Some(Helper::Encoding),
        Encoding::Json => Some(Helper::InJson),
        Encoding::Sha256Hex => Some(Helper::Crypto),
        _ => None,
    };
    names.helpers.extend(helper);
    match encoding {
        Encoding::Url => format!("encodeURIComponent({inner})"),
        Encoding::UrlForm => format!("formEncode({inner})"),
        Encoding::UrlDecoded => format!("decodeURIComponent({inner})"),
        Encoding::Base64 => format!("encoding.b64encode({inner})"),
        Encoding::Json => format!("inJson({inner})"),
        Encoding::WithoutLineEnds => format!("{inner}.replace(/[\\r\\n\\0]/g, '')"),
        Encoding::WithoutTrailingLineEnds => format!("{inner}.replace(/\\n+$/, '')"),
        Encoding::Trimmed => format!("{inner}.trim()"),
        Encoding::CrLf => format!("{inner}.replace(/\\r?\\n/g, '\\r\\n')"),
        Encoding::Sha256Hex => format!("crypto.sha256({inner}, 'hex')"),
        Encoding::Slice { from, to } => format!("{inner}.slice({from}, {to})"),
    }
}
