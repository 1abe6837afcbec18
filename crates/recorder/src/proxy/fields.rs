//! Fields of heads: which go on, and how they are recorded.

use http::header::{
    CONNECTION, COOKIE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{Version, header};

/// Fields of one connection, which do not go on: RFC 9110, 7.6.1. The body's frames are the next connection's own.
const OF_CONNECTION: [HeaderName; 6] =
    [CONNECTION, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// The same, without a constant.
const OF_CONNECTION_BY_NAME: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Takes the fields out that belong to a connection, those that `Connection` names with them.
pub(super) fn remove_of_connection(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> = fields
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let by_name = OF_CONNECTION_BY_NAME.map(HeaderName::from_static);
    for name in named.into_iter().chain(OF_CONNECTION).chain(by_name) {
        fields.remove(name);
    }
}

/// Makes the fields of a request ready for its server: one `Cookie`, which HTTP/2 may split (RFC 9113, 8.2.3), and the name of the
/// server left to the connection where it is that of the address.
pub(super) fn prepare(fields: &mut HeaderMap, authority: &str) {
    // The proxy has said that it may go on: RFC 9110, 10.1.1.
    fields.remove(EXPECT);
    join_cookies(fields);
    let is_own = |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(authority.as_bytes());
    if fields.get(HOST).is_some_and(is_own) {
        fields.remove(HOST);
    }
}

fn join_cookies(fields: &mut HeaderMap) {
    let crumbs: Vec<&[u8]> = fields.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if crumbs.len() > 1
        && let Ok(whole) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
    {
        fields.insert(COOKIE, whole);
    }
}

/// The fields as a recording has them. Bytes beyond ASCII are read as UTF-8, and as Latin-1 where they are none.
pub(super) fn pairs(fields: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| match str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
    };
    fields.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// A version as HARs have it.
pub(super) fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "h2",
        _ => "HTTP/1.1",
    }
}

/// Whether a request asks for a WebSocket: RFC 6455, 4.1.
pub(super) fn asks_for_socket(fields: &HeaderMap) -> bool {
    let asks = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"websocket");
    fields.get(UPGRADE).is_some_and(asks) && fields.contains_key(header::SEC_WEBSOCKET_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn fields_of_the_connection_stay_on_it() {
        let mut map = fields(&[
            ("Connection", "keep-alive, X-Hop"),
            ("Keep-Alive", "timeout=5"),
            ("X-Hop", "1"),
            ("Proxy-Connection", "keep-alive"),
            ("Proxy-Authorization", "Basic eA=="),
            ("Transfer-Encoding", "chunked"),
            ("TE", "trailers"),
            ("Accept", "*/*"),
        ]);
        remove_of_connection(&mut map);
        assert_eq!(pairs(&map), [("accept".to_owned(), "*/*".to_owned())]);
    }

    #[test]
    fn cookies_are_one_field_and_another_host_stays() {
        let mut map = HeaderMap::new();
        for crumb in ["a=1", "b=2"] {
            map.append(COOKIE, HeaderValue::from_static(crumb));
        }
        map.insert(HOST, HeaderValue::from_static("Shop.example"));
        prepare(&mut map, "shop.example");
        assert_eq!(pairs(&map), [("cookie".to_owned(), "a=1; b=2".to_owned())]);
        map.insert(HOST, HeaderValue::from_static("tenant.example"));
        prepare(&mut map, "127.0.0.1");
        assert!(map.contains_key(HOST));
    }

    #[test]
    fn values_that_are_no_ascii_are_texts() {
        let mut map = HeaderMap::new();
        map.insert("a", HeaderValue::from_bytes("grün".as_bytes()).unwrap());
        map.insert("b", HeaderValue::from_bytes(b"gr\xfcn").unwrap());
        let values: Vec<String> = pairs(&map).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, ["grün", "grün"]);
    }
}
