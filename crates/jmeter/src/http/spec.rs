//! `HttpSpec`: an HTTP sampler as it is for this thread at this moment.

use jmx::Thrown;

use super::body::{BodyParts, MissingFile, is_raw};
use super::fields::Fields;
use super::{body::Body, form};
use crate::plan::node::SamplerNode;
use crate::thread::scope::Thread;

/// An HTTP sampler as it is for this thread at this moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpSpec {
    pub(crate) method: String,
    /// The address, as results show it.
    pub(crate) url: String,
    pub(crate) body: Option<Body>,
    pub(crate) follows: bool,
    /// The client follows by itself: no samples below this one.
    pub(crate) follows_silently: bool,
    pub(crate) keeps_alive: bool,
    pub(crate) connect_ms: Option<u64>,
    pub(crate) response_ms: Option<u64>,
    pub(crate) is_java: bool,
    /// Embedded resources are fetched: those whose addresses match; all where the pattern is empty.
    pub(crate) embedded: Option<String>,
    /// Of these, those that match this are left; none where it is empty.
    pub(crate) not_embedded: String,
    /// Results have the MD5 of bodies in their place.
    pub(crate) hashes: bool,
}

/// Why nothing can be sent: Java's exception and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpecError {
    pub(crate) class: &'static str,
    pub(crate) message: String,
    pub(crate) url: String,
}

impl SpecError {
    /// Of a function that threw while a request was made.
    pub(crate) fn of(thrown: Thrown, url: &str) -> Self {
        Self { class: thrown.class, message: thrown.message, url: url.to_owned() }
    }
}

impl HttpSpec {
    /// Reads a sampler with the defaults in its scope.
    pub(crate) fn read(node: &SamplerNode, thread: &mut Thread) -> Result<Self, SpecError> {
        let mut fields = Fields::of(node);
        fields.changed.clone_from(&thread.changes.fields);
        let method = fields.text("HTTPSampler.method", thread).trim().to_owned();
        let method = if method.is_empty() { "GET".to_owned() } else { method };
        let own_charset = fields.text("HTTPSampler.contentEncoding", thread).trim().to_owned();
        let charset = if own_charset.is_empty() { "UTF-8" } else { &own_charset };
        let written = fields.arguments(thread);
        let of_arguments = thread.thrown.take();
        let mut arguments = thread.changes.apply(written);
        for one in &mut arguments {
            let found = thread.replacements.iter().find(|(name, _)| *name == one.name);
            if let Some((_, value)) = found {
                value.clone_into(&mut one.value);
            }
        }
        let raw = is_raw(&fields, &arguments, thread);
        let query = match method.as_str() {
            "GET" | "DELETE" | "OPTIONS" if !raw => form::query(&arguments, charset),
            _ => String::new(),
        };
        let url = address(&fields, &query, thread)?;
        let is_of_query = !query.is_empty();
        // Without its address a sampler has none to show.
        if let Some(thrown) = thread.thrown.take().or(of_arguments.clone().filter(|_| is_of_query))
        {
            return Err(SpecError::of(thrown, ""));
        }
        let is_java = fields.text("HTTPSampler.implementation", thread) == "Java";
        let parts =
            BodyParts { fields: &fields, arguments: &arguments, charset, method: &method, is_java };
        let has_body = has_body(&method, raw, !arguments.is_empty());
        let body = has_body.then(|| parts.body(thread)).transpose();
        let body = body.map_err(|MissingFile(path)| SpecError {
            class: "java.io.FileNotFoundException",
            message: format!("{path} (No such file or directory)"),
            url: url.clone(),
        })?;
        let embeds = fields.flag("HTTPSampler.image_parser", thread);
        let pattern = fields.text("HTTPSampler.embedded_url_re", thread);
        if let Some(thrown) = of_arguments.or(thread.thrown.take()) {
            return Err(SpecError::of(thrown, &url));
        }
        Ok(Self {
            body,
            follows: fields.flag("HTTPSampler.follow_redirects", thread),
            follows_silently: fields.flag("HTTPSampler.auto_redirects", thread),
            keeps_alive: fields.flag("HTTPSampler.use_keepalive", thread),
            connect_ms: fields.milliseconds("HTTPSampler.connect_timeout", thread),
            response_ms: fields.milliseconds("HTTPSampler.response_timeout", thread),
            is_java,
            embedded: embeds.then_some(pattern),
            not_embedded: fields.text("HTTPSampler.embedded_url_exclude_re", thread),
            hashes: fields.flag("HTTPSampler.md5", thread),
            method,
            url,
        })
    }
}

/// Whether a method has a body here: of GET a raw one, of HEAD, OPTIONS and TRACE none.
fn has_body(method: &str, raw: bool, has_arguments: bool) -> bool {
    match method {
        "HEAD" | "OPTIONS" | "TRACE" => false,
        "GET" => raw && has_arguments,
        _ => true,
    }
}

/// The address: a whole one in the path wins over protocol, domain and port.
fn address(fields: &Fields<'_>, query: &str, thread: &mut Thread) -> Result<String, SpecError> {
    let path = fields.text("HTTPSampler.path", thread).trim().to_owned();
    if path.starts_with("http://") || path.starts_with("https://") {
        return Ok(path.replace(' ', "%20"));
    }
    let protocol = fields.text("HTTPSampler.protocol", thread).trim().to_ascii_lowercase();
    let protocol = if protocol.is_empty() { "http".to_owned() } else { protocol };
    let domain = fields.text("HTTPSampler.domain", thread);
    let port = fields.text("HTTPSampler.port", thread).trim().to_owned();
    let domain = match domain.contains(':') && !domain.starts_with('[') {
        true if domain.parse::<std::net::Ipv6Addr>().is_ok() => format!("[{domain}]"),
        _ => domain,
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    let path = path.replace(' ', "%20");
    let joined = match (query.is_empty(), path.contains('?')) {
        (true, _) => path,
        (false, true) => format!("{path}&{query}"),
        (false, false) => format!("{path}?{query}"),
    };
    let is_default =
        matches!((protocol.as_str(), port.as_str()), ("http", "80") | ("https", "443"));
    let port = port.parse::<i32>().ok().filter(|number| !is_default && *number > 0);
    let shown_port = port.map(|number| format!(":{number}")).unwrap_or_default();
    let url = match domain.is_empty() && port.is_none() {
        true => format!("{protocol}:{slash}{joined}"),
        false => format!("{protocol}://{domain}{shown_port}{slash}{joined}"),
    };
    match unreachable(&protocol, &domain, port, &url) {
        Some((class, message)) => Err(illegal(&url).unwrap_or(SpecError { class, message, url })),
        None => Ok(url),
    }
}

/// Why JMeter's client asks no server of an address: the exception and its message.
fn unreachable(
    protocol: &str,
    domain: &str,
    port: Option<i32>,
    url: &str,
) -> Option<(&'static str, String)> {
    const PORT_MAX: i32 = 65_535;
    match (protocol, port) {
        ("http" | "https" | "ftp", _) if domain.is_empty() => Some((
            "org.apache.http.client.ClientProtocolException",
            format!("URI does not specify a valid host name: {url}"),
        )),
        ("http" | "https", Some(port)) if port > PORT_MAX => {
            Some(("java.lang.IllegalArgumentException", format!("port out of range:{port}")))
        }
        ("http" | "https", _) => None,
        ("ftp", _) => Some((
            "org.apache.http.conn.UnsupportedSchemeException",
            "ftp protocol is not supported".to_owned(),
        )),
        _ => Some(("java.net.MalformedURLException", format!("unknown protocol: {protocol}"))),
    }
}

/// What of an address is no address, as `java.net.URI` finds it.
pub(crate) fn illegal(url: &str) -> Option<SpecError> {
    let query = url.find('?').unwrap_or(url.len());
    let (at, _) = url.char_indices().find(|(at, letter)| {
        matches!(letter, '|' | '{' | '}' | '<' | '>' | '"' | '\\' | '^' | '`')
            || (letter.is_whitespace() && *at > 0)
    })?;
    let authority = url.find("://").map_or(0, |colon| colon + 3);
    let path = url[authority..].find(['/', '?']).map_or(url.len(), |end| authority + end);
    // Of the authority the whole is refused, and not a letter in it.
    let (part, at) = match at {
        at if at > query => ("query", at),
        at if at < path => ("authority", authority),
        at => ("path", at),
    };
    let index = url[..at].chars().count();
    Some(SpecError {
        class: "java.net.URISyntaxException",
        message: format!("Illegal character in {part} at index {index}: {url}"),
        url: url.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_refused_as_the_client_does() {
        for (protocol, domain, port, expect) in [
            ("http", "h", Some(65_535), None),
            ("http", "", None, Some("URI does not specify a valid host name: u")),
            ("http", "h", Some(99_999), Some("port out of range:99999")),
            ("ftp", "h", None, Some("ftp protocol is not supported")),
            ("gopher", "h", None, Some("unknown protocol: gopher")),
        ] {
            let found = unreachable(protocol, domain, port, "u").map(|(_, message)| message);
            assert_eq!(found.as_deref(), expect, "{protocol} {domain} {port:?}");
        }
    }

    #[test]
    fn letters_that_no_address_has_are_named_by_their_part() {
        for (url, expect) in [
            ("http://127.0.0.1 :18700/j", "authority at index 7"),
            ("https://${host}/j", "authority at index 8"),
            ("http://h/l|m", "path at index 10"),
            ("http://h?x={1}", "query at index 11"),
        ] {
            let message = illegal(url).map(|error| error.message);
            assert_eq!(message, Some(format!("Illegal character in {expect}: {url}")));
        }
        assert_eq!(illegal("http://h/a?b=c"), None);
    }
}
