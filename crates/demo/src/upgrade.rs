//! `Upgrade`: a request that asks for a WebSocket, and what for. It answers the handshake and keeps nothing.

use wire::h1::Version;
use wire::h1::server::RequestHead;
use wire::ws::{self, Agreed, DeflateAnswer, Protocols};

use crate::route::Route;

/// The Action Cable subprotocols spoken.
const CABLE_PROTOCOLS: [&str; 3] =
    ["actioncable-v1-json", "actioncable-v1-msgpack", "actioncable-v1-protobuf"];

/// A WebSocket that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upgrade {
    /// The whole 101.
    pub(crate) response: Vec<u8>,
    pub(crate) agreed: Agreed,
    pub(crate) purpose: Purpose,
}

/// What a WebSocket is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Messages go back to their sender.
    Echo,
    /// It is closed at once with this code.
    Close(u16),
    /// Action Cable.
    Cable(User),
}

/// The user that a cable's client claims to be, by the cookie `uid=NAME/ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: Box<str>,
    pub(crate) id: Box<str>,
}

impl Upgrade {
    /// The WebSocket that this request opens; `None` where it is no valid handshake.
    pub(crate) fn of_request(head: &RequestHead<'_>, route: &Route) -> Option<Self> {
        let fields = || head.headers.iter().map(|field| (field.name.as_bytes(), field.value));
        let (purpose, protocols, deflate) = match route {
            Route::WsEcho(None) => (Purpose::Echo, Protocols::Any, DeflateAnswer::Accept),
            Route::WsEcho(Some(code)) => {
                (Purpose::Close(*code), Protocols::Any, DeflateAnswer::Refuse)
            }
            Route::Cable => {
                let cookies =
                    head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("cookie"));
                let user = cookies.filter_map(|field| user(field.value)).next_back();
                let user = user.unwrap_or_else(|| User { name: "guest".into(), id: "0".into() });
                // Small messages to thousands: one frame for all of them, which compression would not allow.
                (Purpose::Cable(user), Protocols::Of(&CABLE_PROTOCOLS), DeflateAnswer::Refuse)
            }
            _ => return None,
        };
        // RFC 6455, 4.1; and RFC 9110, 7.8: HTTP/1.0 cannot ask for another protocol.
        if head.method != "GET" || head.version != Version::Http11 {
            return None;
        }
        let (response, agreed) = ws::accept(fields(), protocols, deflate).ok()?;
        Some(Self { response, agreed, purpose })
    }
}

/// The user in a field `Cookie`.
fn user(cookies: &[u8]) -> Option<User> {
    let cookies = std::str::from_utf8(cookies).ok()?;
    let uid = cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix("uid="))?;
    let (name, id) = uid.trim_matches('"').split_once('/').or_else(|| uid.split_once("%2F"))?;
    Some(User { name: name.into(), id: id.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_from_cookies() {
        let cases = [
            ("uid=Kay/7", Some(("Kay", "7"))),
            ("a=b; uid=Kay%2F7; c=d", Some(("Kay", "7"))),
            ("uid=\"Kay/7\"", Some(("Kay", "7"))),
            ("uid=Kay", None),
            ("xuid=Kay/7", None),
        ];
        for (cookies, expect) in cases {
            let found = user(cookies.as_bytes());
            let found = found.as_ref().map(|user| (user.name.as_ref(), user.id.as_ref()));
            assert_eq!(found, expect, "{cookies}");
        }
    }
}
