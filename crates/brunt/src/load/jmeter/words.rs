//! Java's words for failures: the exception's class, a tab, and its message, as JMeter's results have them.

use std::io::Write as _;

use engine::{FailedHit, FailureReason, FailureText};
use net::{Address, IoFailure};
use wire::h1::response::DecodeError;

/// The text of a failed request.
pub(super) const FAILURE_TEXT: FailureText = FailureText(failure_text);

fn failure_text(hit: &FailedHit<'_>, out: &mut Vec<u8>) {
    let (class, message) = words(hit);
    write!(out, "{class}\t{message}").expect("memory takes what is written");
}

fn words(hit: &FailedHit<'_>) -> (&'static str, String) {
    use FailureReason as R;
    let host = host_of(hit.url);
    match hit.reason {
        R::Lookup(_) | R::NoAddress => ("java.net.UnknownHostException", name_of(&host)),
        R::Connect { to, failure } => connect(&host, to.as_ref(), *failure),
        R::Read(failure) | R::Write(failure) => {
            ("java.net.SocketException", lost(*failure).to_owned())
        }
        R::Timeout => ("java.net.SocketTimeoutException", "Read timed out".to_owned()),
        R::Response(error) => response(&host, error),
        R::Tls(error) => ("javax.net.ssl.SSLException", error.to_string()),
        R::TlsSetup(error) => ("javax.net.ssl.SSLException", error.to_string()),
        R::Url(error) => ("java.net.URISyntaxException", error.to_string()),
        reason => ("java.io.IOException", reason.to_string()),
    }
}

/// Bytes that are no response, or end too early.
fn response(host: &str, error: &DecodeError) -> (&'static str, String) {
    match error {
        DecodeError::Eof | DecodeError::HeadTruncated => {
            ("org.apache.http.NoHttpResponseException", format!("{host} failed to respond"))
        }
        DecodeError::Truncated => (
            "org.apache.http.ConnectionClosedException",
            "Premature end of chunk coded message body: closing chunk expected".to_owned(),
        ),
        _ => ("org.apache.http.client.ClientProtocolException", "null".to_owned()),
    }
}

fn connect(host: &str, to: Option<&Address>, failure: IoFailure) -> (&'static str, String) {
    let ip = match to {
        Some(Address::Ip(to)) => format!("[{}/{}]", shown_name(host), to.ip()),
        _ => "[]".to_owned(),
    };
    match failure {
        IoFailure::TimedOut => (
            "org.apache.http.conn.ConnectTimeoutException",
            format!("Connect to {host} {ip} failed: connect timed out"),
        ),
        IoFailure::Unreachable => {
            ("java.net.NoRouteToHostException", "No route to host".to_owned())
        }
        IoFailure::Refused => (
            "org.apache.http.conn.HttpHostConnectException",
            format!("Connect to {host} {ip} failed: Connection refused"),
        ),
        other => ("java.net.SocketException", other.to_string()),
    }
}

const fn lost(failure: IoFailure) -> &'static str {
    match failure {
        IoFailure::BrokenPipe => "Broken pipe",
        _ => "Connection reset",
    }
}

/// `host:port` of an address, the port of its scheme where it names none.
fn host_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match (has_port, scheme) {
        (true, _) => host.to_owned(),
        (false, "https") => format!("{host}:443"),
        (false, _) => format!("{host}:80"),
    }
}

fn name_of(host: &str) -> String {
    host.rsplit_once(':').map_or(host, |(name, _)| name).to_owned()
}

/// Java shows a name before an address, and nothing where the address was given.
fn shown_name(host: &str) -> String {
    let name = name_of(host);
    let is_address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
    if is_address { String::new() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_javas_words() {
        let text = |url: &str, reason: FailureReason| {
            let mut out = Vec::new();
            let hit = FailedHit { method: "GET", url, in_body: false, reason: &reason };
            failure_text(&hit, &mut out);
            String::from_utf8(out).unwrap()
        };
        let to = Some(Address::Ip("127.0.0.1:1".parse().unwrap()));
        let refused = FailureReason::Connect { to, failure: IoFailure::Refused };
        assert_eq!(
            text("http://127.0.0.1:1/x", refused),
            "org.apache.http.conn.HttpHostConnectException\tConnect to 127.0.0.1:1 [/127.0.0.1] failed: Connection refused"
        );
        assert_eq!(
            text("https://h/x", FailureReason::Response(DecodeError::Eof)),
            "org.apache.http.NoHttpResponseException\th:443 failed to respond"
        );
        assert_eq!(
            text("http://h/", FailureReason::Lookup("x".to_owned())),
            "java.net.UnknownHostException\th"
        );
    }
}
