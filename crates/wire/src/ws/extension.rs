//! The field `Sec-WebSocket-Extensions` (RFC 6455, 9.1) and what permessage-deflate says in it (RFC 7692, 7.1).

/// Whether a side's compressor may use what it sent before. Without, each message stands alone and costs no memory
/// between messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Messages are compressed with the window of those before them.
    Kept,
    /// `…_no_context_takeover`: each message stands alone.
    Dropped,
}

/// What was agreed about permessage-deflate. Windows are of 32 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateParams {
    /// How the server compresses.
    pub server: Takeover,
    /// How the client compresses.
    pub client: Takeover,
}

/// The extension's name.
const NAME: &str = "permessage-deflate";

/// One member of the field: a name, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    name: String,
    params: Vec<(String, Option<String>)>,
}

/// A parameter of permessage-deflate, its value read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Param {
    ServerNoTakeover,
    ClientNoTakeover,
    ServerWindow(u8),
    /// With the bits, if it has some.
    ClientWindow(Option<u8>),
}

impl Extension {
    /// Reads one field's members; `None` where the field breaks its grammar. Members of nothing are skipped.
    pub(super) fn parse_list(text: &str) -> Option<Vec<Self>> {
        let mut members = Vec::new();
        for member in split_unquoted(text, ',') {
            if !member.trim().is_empty() {
                members.push(Self::parse(member)?);
            }
        }
        Some(members)
    }

    fn parse(member: &str) -> Option<Self> {
        let mut parts = split_unquoted(member, ';').into_iter().map(str::trim);
        let name = parts.next().filter(|name| is_token(name))?.to_owned();
        let params = parts.map(parse_param).collect::<Option<_>>()?;
        Some(Self { name, params })
    }

    /// As a server, what of this offer can be agreed to: nothing for another extension, for bad parameters, and for a
    /// window of ours smaller than 32 KiB.
    pub(super) fn accept(&self) -> Option<DeflateParams> {
        let params = self.deflate_params()?;
        let ours = params.iter().all(|param| !matches!(param, Param::ServerWindow(..=14)));
        ours.then(|| takeovers(&params))
    }

    /// As a client, what this answer of the server agreed upon: nothing where it is not an answer to our offers. We never
    /// offer `client_max_window_bits`, so the server must not ask for it. RFC 7692, 7.1.2.2.
    pub(super) fn agree(&self) -> Option<DeflateParams> {
        let params = self.deflate_params()?;
        let ours = params.iter().all(|param| !matches!(param, Param::ClientWindow(_)));
        ours.then(|| takeovers(&params))
    }

    /// Its parameters, if it is permessage-deflate and all are known, valid and there once. RFC 7692, 7.1.
    fn deflate_params(&self) -> Option<Vec<Param>> {
        if !self.name.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let params: Vec<Param> = self
            .params
            .iter()
            .map(|(name, value)| Param::parse(name, value.as_deref()))
            .collect::<Option<_>>()?;
        let names = || self.params.iter().map(|param| param.0.to_ascii_lowercase());
        let once = names().enumerate().all(|(at, name)| !names().take(at).any(|one| one == name));
        once.then_some(params)
    }
}

impl Param {
    fn parse(name: &str, value: Option<&str>) -> Option<Self> {
        let bits = value.map(window_bits);
        Some(match (name.to_ascii_lowercase().as_str(), bits) {
            ("server_no_context_takeover", None) => Self::ServerNoTakeover,
            ("client_no_context_takeover", None) => Self::ClientNoTakeover,
            ("server_max_window_bits", Some(Some(bits))) => Self::ServerWindow(bits),
            ("client_max_window_bits", None) => Self::ClientWindow(None),
            ("client_max_window_bits", Some(Some(bits))) => Self::ClientWindow(Some(bits)),
            _ => return None,
        })
    }
}

impl DeflateParams {
    /// As a field's text: the offer of a client that wants exactly this, and the answer of a server that agrees to it.
    pub(super) fn text(self) -> String {
        let flags = [
            (self.server, "; server_no_context_takeover"),
            (self.client, "; client_no_context_takeover"),
        ];
        let dropped = flags.into_iter().filter(|flag| flag.0 == Takeover::Dropped);
        dropped.fold(NAME.to_owned(), |text, flag| text + flag.1)
    }
}

fn takeovers(params: &[Param]) -> DeflateParams {
    let side = |flag| if params.contains(&flag) { Takeover::Dropped } else { Takeover::Kept };
    DeflateParams { server: side(Param::ServerNoTakeover), client: side(Param::ClientNoTakeover) }
}

/// From 8 to 15, without leading zeros. RFC 7692, 7.1.2.
fn window_bits(text: &str) -> Option<u8> {
    let bits: u8 = text.parse().ok().filter(|bits| (8..=15).contains(bits))?;
    (text == bits.to_string()).then_some(bits)
}

/// `name`, `name=token` or `name="token"`. RFC 6455, 9.1: what is quoted must be a token as well.
fn parse_param(text: &str) -> Option<(String, Option<String>)> {
    let Some((name, value)) = text.split_once('=') else {
        return is_token(text).then(|| (text.to_owned(), None));
    };
    let (name, value) = (name.trim_end(), value.trim_start());
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let value = quoted.map_or_else(|| value.to_owned(), |quoted| quoted.replace('\\', ""));
    (is_token(name) && is_token(&value)).then(|| (name.to_owned(), Some(value)))
}

/// Splits where `separator` does not stand in quotes.
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, sign) in text.char_indices() {
        match sign {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if sign == separator && !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    parts.push(&text[start..]);
    parts
}

/// RFC 9110, 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: DeflateParams = DeflateParams { server: Takeover::Kept, client: Takeover::Kept };
    const DROPPED: DeflateParams =
        DeflateParams { server: Takeover::Dropped, client: Takeover::Dropped };

    fn one(text: &str) -> Option<Extension> {
        let mut list = Extension::parse_list(text)?;
        (list.len() == 1).then(|| list.remove(0))
    }

    #[test]
    fn what_each_side_makes_of_parameters() {
        let server = DeflateParams { server: Takeover::Dropped, ..KEPT };
        // The text; what a server agrees to as an offer; what a client takes as an answer.
        let cases = [
            ("permessage-deflate", Some(KEPT), Some(KEPT)),
            ("Permessage-Deflate ;server_no_context_takeover", Some(server), Some(server)),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                Some(DROPPED),
                Some(DROPPED),
            ),
            ("permessage-deflate; client_max_window_bits", Some(KEPT), None),
            ("permessage-deflate; client_max_window_bits=\"10\"", Some(KEPT), None),
            ("permessage-deflate; server_max_window_bits=10", None, Some(KEPT)),
            ("permessage-deflate; server_max_window_bits=15", Some(KEPT), Some(KEPT)),
            ("permessage-deflate; server_max_window_bits=\"1\\5\"", Some(KEPT), Some(KEPT)),
            ("permessage-deflate; server_max_window_bits", None, None),
            ("permessage-deflate; server_max_window_bits=7", None, None),
            ("permessage-deflate; server_max_window_bits=16", None, None),
            ("permessage-deflate; server_max_window_bits=010", None, None),
            ("permessage-deflate; server_no_context_takeover=1", None, None),
            (
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
                None,
                None,
            ),
            ("permessage-deflate; unknown", None, None),
            ("x-webkit-deflate-frame", None, None),
        ];
        for (text, accepted, agreed) in cases {
            let extension = one(text).expect(text);
            assert_eq!((extension.accept(), extension.agree()), (accepted, agreed), "{text}");
        }
    }

    #[test]
    fn grammar() {
        for text in ["a b", "a;", "a;=1", "a; b=", "a; b=\"\"", "a; b=\"x y\"", "a; b=\"x", "é"] {
            assert_eq!(Extension::parse_list(text), None, "{text}");
        }
        assert_eq!(Extension::parse_list(" , ").map(|list| list.len()), Some(0));
        assert_eq!(Extension::parse_list("a; x=\"1\", b;c=d ,c").map(|list| list.len()), Some(3));
        for params in [KEPT, DROPPED] {
            assert_eq!(one(&params.text()).and_then(|one| one.accept()), Some(params));
        }
    }
}
