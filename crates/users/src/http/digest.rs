//! Digest authentication: the answer to a server's challenge. RFC 7616, without `auth-int`.

use md5::Md5;
use sha2::Sha256;
use stdx::Nanos;

/// The credentials, and the request that they are for.
pub(crate) struct DigestRequest<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    pub(crate) method: &'a str,
    pub(crate) uri: &'a str,
}

/// Whether a `WWW-Authenticate` field asks for a digest.
pub(crate) fn is_challenge(value: &str) -> bool {
    value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("digest "))
}

/// The `Authorization` field that answers a challenge; `None` where it wants what we do not do. `now` is of no meaning but
/// that the client's nonce is another each time.
pub(crate) fn answer(challenge: &str, asks: &DigestRequest<'_>, now: Nanos) -> Option<String> {
    let params = params(challenge.get(7..)?);
    let param = |name: &str| {
        params.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    };
    let (realm, nonce) = (param("realm").unwrap_or(""), param("nonce")?);
    let algorithm = param("algorithm").unwrap_or("MD5");
    let (hash, session): (fn(&str) -> String, bool) = match algorithm.to_ascii_uppercase().as_str()
    {
        "MD5" => (hash::<Md5>, false),
        "MD5-SESS" => (hash::<Md5>, true),
        "SHA-256" => (hash::<Sha256>, false),
        "SHA-256-SESS" => (hash::<Sha256>, true),
        _ => return None,
    };
    let qop = match param("qop") {
        Some(list) => Some(list.split(',').map(str::trim).find(|word| *word == "auth")?),
        None => None,
    };
    let client = &hash(&format!("{nonce}:{}:{}", now.0, asks.uri))[..16];
    let mut a1 = hash(&format!("{}:{realm}:{}", asks.user, asks.password));
    if session {
        a1 = hash(&format!("{a1}:{nonce}:{client}"));
    }
    let a2 = hash(&format!("{}:{}", asks.method, asks.uri));
    let response = match qop {
        Some(qop) => hash(&format!("{a1}:{nonce}:00000001:{client}:{qop}:{a2}")),
        None => hash(&format!("{a1}:{nonce}:{a2}")),
    };
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut line = format!(
        "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", response=\"{response}\", algorithm={algorithm}",
        quoted(asks.user),
        quoted(realm),
        quoted(nonce),
        asks.uri,
    );
    if let Some(opaque) = param("opaque") {
        line.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
    }
    if let Some(qop) = qop {
        line.push_str(&format!(", qop={qop}, nc=00000001, cnonce=\"{client}\""));
    }
    // What a hostile server puts between quotes must not end the line.
    line.bytes().all(|b| !b.is_ascii_control()).then_some(line)
}

fn hash<D: md5::Digest>(text: &str) -> String {
    D::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `name=value` and `name="value"`, with commas between. RFC 9110, 11.2.
fn params(text: &str) -> Vec<(String, String)> {
    let mut params = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let (value, left) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        params.push((name.trim().to_owned(), value));
        rest = left.trim_start_matches([',', ' ', '\t']);
    }
    params
}

/// A quoted text without its quotes, and what follows it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            _ => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_without_qop_is_answered_as_in_rfc_2069() {
        let challenge = r#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc""#;
        let asks = DigestRequest {
            user: "Mufasa",
            password: "Circle Of Life",
            method: "GET",
            uri: "/dir/index.html",
        };
        let line = answer(challenge, &asks, Nanos(1)).expect("an answer");
        assert!(line.contains(r#"response="670fd8c2df070c60b045671b8b24ff02""#), "{line}");
        assert!(line.contains(r#"opaque="5ccc""#) && !line.contains("cnonce"), "{line}");
    }

    #[test]
    fn what_we_cannot_answer_is_not() {
        let asks = DigestRequest { user: "u", password: "p", method: "GET", uri: "/" };
        for challenge in [
            r#"Digest realm="r""#,
            r#"Digest realm="r", nonce="n", algorithm=SHA-512"#,
            r#"Digest realm="r", nonce="n", qop="auth-int""#,
            "Digest =,=,\"",
        ] {
            assert_eq!(answer(challenge, &asks, Nanos::ZERO), None, "{challenge}");
        }
        assert!(!is_challenge("Basic realm=x") && is_challenge("digest realm=x"));
    }
}
