//! The header fields of a request as one object can hold them: each name once, and a multipart body's type with its boundary.

use crate::{Body, Exchange, Header};

/// The fields of an exchange, equal names joined. The type of a multipart body is left to its body, which knows the boundary.
pub(super) fn of(exchange: &Exchange) -> Vec<Header> {
    let leaves_type = multipart_subtype(exchange).is_some();
    let mut out: Vec<Header> = vec![];
    for header in &exchange.headers {
        let lower = header.name.to_ascii_lowercase();
        if leaves_type && lower == "content-type" {
            continue;
        }
        match out.iter_mut().find(|seen| seen.name.eq_ignore_ascii_case(&header.name)) {
            Some(seen) => join(seen, header, &lower),
            None => out.push(header.clone()),
        }
    }
    out
}

/// The second field of a name: lists are joined, of what can only be one the last one stays.
fn join(seen: &mut Header, header: &Header, lower: &str) {
    if SINGLE.contains(&lower) || seen.value.is_empty() {
        seen.value = header.value.clone();
        return;
    }
    seen.value.push_str(if lower == "cookie" { "; " } else { ", " });
    seen.value.push(&header.value);
}

/// `mixed` of an own `Content-Type: multipart/mixed` beside a multipart body, without the parameters.
pub(super) fn multipart_subtype(exchange: &Exchange) -> Option<String> {
    let Body::Multipart(_) = exchange.body else { return None };
    let own = exchange.header("Content-Type")?.literal_start().trim().to_ascii_lowercase();
    let subtype = own.strip_prefix("multipart/")?.split(';').next().unwrap_or_default().trim();
    Some(if subtype.is_empty() { "form-data".to_owned() } else { subtype.to_owned() })
}

const SINGLE: &[&str] =
    &["authorization", "content-type", "host", "origin", "referer", "user-agent", "content-length"];
