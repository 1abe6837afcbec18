//! The options of curl: their letters, which of them take a value, and which of them no request shows.

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes the request.
    Request,
    /// It concerns what is printed, or the transfer alone.
    None,
    /// It matters, and no script has it; said with this reason.
    Note(&'static str),
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) has_value: bool,
    pub(super) effect: Effect,
}

/// The option of a long name; an unambiguous beginning counts as well, as curl has it.
pub(super) fn long(name: &str) -> Option<Row> {
    if let Some(row) = rows().find(|row| row.name == name) {
        return Some(row);
    }
    let mut begins = rows().filter(|row| name.len() > 2 && row.name.starts_with(name));
    let first = begins.next()?;
    begins.next().is_none().then_some(first)
}

/// The option of a letter.
pub(super) fn short(letter: char) -> Option<Row> {
    let (_, name) = LETTERS.iter().find(|(short, _)| *short == letter)?;
    long(name)
}

fn rows() -> impl Iterator<Item = Row> {
    let table = |names: &'static str, has_value: bool, effect: Effect| {
        names.split_whitespace().map(move |name| Row { name, has_value, effect })
    };
    table(REQUEST_VALUES, true, Effect::Request)
        .chain(table(REQUEST_SWITCHES, false, Effect::Request))
        .chain(table(SILENT_VALUES, true, Effect::None))
        .chain(table(SILENT_SWITCHES, false, Effect::None))
        .chain(table(PROXY_VALUES, true, Effect::Note("no proxy is used")))
        .chain(table(
            "proxytunnel proxy-insecure proxy-basic proxy-digest proxy-ntlm proxy-anyauth",
            false,
            Effect::Note("no proxy is used"),
        ))
        .chain(table(
            CERTIFICATES,
            true,
            Effect::Note("certificates are not taken over: see tlsAuth in the script's options"),
        ))
        .chain(table(
            TLS_SWITCHES,
            false,
            Effect::Note(
                "the version of TLS is not taken over: see tlsVersion in the script's options",
            ),
        ))
        .chain(table(
            ADDRESSES,
            true,
            Effect::Note(
                "where the name leads is not taken over: see hosts in the script's options",
            ),
        ))
        .chain(table(
            "http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only http0.9",
            false,
            Effect::Note("the version of HTTP is agreed upon with the server"),
        ))
        .chain(table(
            "negotiate ntlm ntlm-wb",
            false,
            Effect::Note("this way to log in is not known"),
        ))
        .chain(table(
            "ftp-port quote mail-from mail-rcpt mail-auth telnet-option upload-flags",
            true,
            Effect::Note("only HTTP is understood"),
        ))
}

const LETTERS: &[(char, &str)] = &[
    ('A', "user-agent"),
    ('b', "cookie"),
    ('c', "cookie-jar"),
    ('C', "continue-at"),
    ('d', "data"),
    ('D', "dump-header"),
    ('e', "referer"),
    ('E', "cert"),
    ('f', "fail"),
    ('F', "form"),
    ('g', "globoff"),
    ('G', "get"),
    ('H', "header"),
    ('i', "include"),
    ('I', "head"),
    ('j', "junk-session-cookies"),
    ('J', "remote-header-name"),
    ('k', "insecure"),
    ('K', "config"),
    ('L', "location"),
    ('m', "max-time"),
    ('n', "netrc"),
    ('N', "no-buffer"),
    ('o', "output"),
    ('O', "remote-name"),
    ('p', "proxytunnel"),
    ('q', "disable"),
    ('Q', "quote"),
    ('r', "range"),
    ('R', "remote-time"),
    ('s', "silent"),
    ('S', "show-error"),
    ('t', "telnet-option"),
    ('T', "upload-file"),
    ('u', "user"),
    ('U', "proxy-user"),
    ('v', "verbose"),
    ('w', "write-out"),
    ('x', "proxy"),
    ('X', "request"),
    ('y', "speed-time"),
    ('Y', "speed-limit"),
    ('z', "time-cond"),
    ('Z', "parallel"),
    ('#', "progress-bar"),
    (':', "next"),
    ('0', "http1.0"),
    ('1', "tlsv1"),
    ('2', "sslv2"),
    ('3', "sslv3"),
    ('4', "ipv4"),
    ('6', "ipv6"),
    ('a', "append"),
    ('l', "list-only"),
    ('M', "manual"),
    ('P', "ftp-port"),
    ('V', "version"),
    ('h', "help"),
];

const REQUEST_VALUES: &str = "user-agent cookie cookie-jar data data-ascii data-binary data-raw data-urlencode referer form form-string \
    header json range request upload-file url url-query user oauth2-bearer aws-sigv4 max-time config netrc-file proto-default \
    request-target max-redirs variable continue-at time-cond etag-compare";
const REQUEST_SWITCHES: &str = "get globoff head insecure location location-trusted netrc netrc-optional next path-as-is digest basic \
    anyauth compressed post301 post302 post303 tr-encoding form-escape junk-session-cookies";
const SILENT_VALUES: &str = "output write-out connect-timeout retry retry-delay retry-max-time stderr dump-header trace trace-ascii \
    libcurl speed-limit speed-time max-filesize keepalive-time keepalive-cnt output-dir parallel-max parallel-max-host \
    local-port happy-eyeballs-timeout-ms create-file-mode expect100-timeout trace-config etag-save limit-rate rate dns-servers \
    dns-interface dns-ipv4-addr dns-ipv6-addr interface proto proto-redir remote-time-format ip-tos vlan-priority hostpubmd5 help";
const SILENT_SWITCHES: &str = "silent show-error fail verbose include progress-bar remote-name remote-header-name create-dirs no-buffer \
    buffer parallel parallel-immediate fail-with-body fail-early progress-meter no-progress-meter retry-all-errors \
    retry-connrefused tcp-nodelay tcp-fastopen remote-time styled-output clobber no-clobber disable remote-name-all ipv4 ipv6 \
    trace-time trace-ids skip-existing xattr manual version keepalive no-keepalive sessionid no-sessionid append list-only \
    raw ignore-content-length compressed-ssh show-headers remove-on-error alpn no-alpn no-npn suppress-connect-headers \
    disallow-username-in-url crlf use-ascii";
const PROXY_VALUES: &str = "proxy proxy-user preproxy socks4 socks4a socks5 socks5-hostname noproxy proxy-header proxy1.0 proxy-cacert \
    proxy-cert proxy-key proxy-pass";
const CERTIFICATES: &str =
    "cacert capath cert key cert-type key-type pass crlfile pinnedpubkey engine";
const TLS_SWITCHES: &str = "tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 sslv2 sslv3 ssl ssl-reqd ssl-no-revoke cert-status ssl-allow-beast ca-native";
const ADDRESSES: &str = "resolve connect-to unix-socket abstract-unix-socket doh-url tls-max ciphers tls13-ciphers curves haproxy-clientip \
    alt-svc hsts login-options sasl-authzid delegation service-name";
