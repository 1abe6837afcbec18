//! An operation as the requests that curl would send for it.

use stdx::Nanos;

use super::headers::Headers;
use super::options::{Data, FormField, Operation};
use super::session::Session;
use super::url_parts::{self, Url};
use super::{cookies, form, glob, http_date};
use crate::{Auth, Body, Cookies, Encoding, Exchange, RedirectRules, Redirects, Source, Text};

/// The requests of an operation, one for each address, at most so many.
pub(super) fn exchanges(
    session: &mut Session<'_, '_>,
    operation: &Operation,
    most: usize,
) -> Vec<Exchange> {
    if operation.has("insecure") {
        session.import.insecure = true;
    }
    if let Some(reason) = refusal(session, operation) {
        session.note(format!("curl refuses this: {reason}; left out"));
        return vec![];
    }
    let copied = operation.bytes() + session.stdin.as_ref().map_or(0, String::len);
    let scheme = operation.value("proto-default").unwrap_or("http");
    let mut made = vec![];
    for (url, upload) in transfers(operation, most) {
        // The first request has what the script says once.
        if !made.is_empty() && !session.has_room(copied) {
            session.note("its requests have more than is taken of a script, by what each of them repeats: the further ones are left out");
            break;
        }
        let url = url_parts::parse(&session.values, &url, scheme);
        if !matches!(url.scheme.as_str(), "" | "http://" | "https://") {
            session.note(format!("{}{} is no address of HTTP, left out", url.scheme, url.host));
            continue;
        }
        made.push(exchange(session, operation, url, upload.as_deref()));
    }
    made
}

/// Why curl does not begin at all.
fn refusal(session: &Session<'_, '_>, operation: &Operation) -> Option<&'static str> {
    let has_data = !operation.data.is_empty();
    let is_get = operation.has("get");
    let lacks_name =
        |field: &FormField| !field.value.contains('=') && session.values.is_literal(&field.value);
    match () {
        () if operation.form.iter().any(lacks_name) => Some("a -F without ="),
        () if has_data && !operation.form.is_empty() => Some("-d beside -F"),
        () if has_data && !operation.uploads.is_empty() && !is_get => Some("-d beside -T"),
        () if has_data && operation.has("head") && !is_get => Some("-d beside -I"),
        () if operation.urls.iter().any(|url| url.contains(' ')) => Some("a blank in its address"),
        () if !operation.has("globoff") && operation.urls.iter().any(|url| glob::is_open(url)) => {
            Some("a { without a } in its address")
        }
        () => None,
    }
}

/// Each address with the file of its `-T`; globs in either are several. At most so many.
fn transfers(operation: &Operation, most: usize) -> Vec<(String, Option<String>)> {
    let expand = |text: &String| {
        if operation.has("globoff") { vec![text.clone()] } else { glob::expand(text) }
    };
    let mut out = vec![];
    for (at, url) in operation.urls.iter().enumerate() {
        let files: Vec<Option<String>> = match operation.uploads.get(at) {
            Some(path) => expand(path).into_iter().map(Some).collect(),
            None => vec![None],
        };
        let urls = expand(url);
        for file in files {
            let left = most.saturating_sub(out.len());
            out.extend(urls.iter().take(left).map(|url| (url.clone(), file.clone())));
        }
        if out.len() >= most {
            break;
        }
    }
    out
}

fn exchange(
    session: &mut Session<'_, '_>,
    operation: &Operation,
    mut url: Url,
    upload: Option<&str>,
) -> Exchange {
    let mut headers = Headers::of(session, operation);
    let mut made = Exchange { place: session.place(), ..Exchange::default() };
    let data = data(session, &operation.data);
    made.method = method(operation, upload.is_some());
    if !operation.has("path-as-is") && session.values.is_literal(&url.path) {
        url.path = url_parts::without_dots(&url.path);
    }
    if let Some(path) = upload {
        if url.path.ends_with('/') && path != "-" {
            url.path.push_str(&url_parts::percent_encoded(path.rsplit('/').next().unwrap_or(path)));
        }
        made.body = match path {
            "-" | "." => Body::Text(stdin(session)),
            path => Body::File { path: path.to_owned() },
        };
    } else if !operation.form.is_empty() {
        made.body = Body::Multipart(form::multipart(session, &operation.form));
    } else if !operation.data.is_empty() && !operation.has("get") {
        made.body = body(session, &operation.data, &data);
    }
    data_headers(operation, &mut headers);
    made.auth = auth(session, operation, &url, &mut headers);
    fixed_headers(session, operation, &mut headers);
    cookie_header(session, operation, &url, &mut headers);
    made.cookies = jar(session, operation);
    made.url = address(session, operation, &url, &data);
    made.headers = headers.list();
    made.redirects = redirects(operation);
    made.timeout = operation
        .value("max-time")
        .and_then(|text| text.parse::<f64>().ok())
        .map(|seconds| Nanos((seconds.clamp(0.001, 86_400.0) * 1e9) as u64));
    made
}

/// The type of a body of `-d` or `--json`; `--json` keeps it where `-G` leaves no body.
fn data_headers(operation: &Operation, headers: &mut Headers) {
    if operation.data.iter().any(|data| data.option == "json") {
        headers.add_default("Content-Type", "application/json");
        headers.add_default("Accept", "application/json");
    } else if !operation.data.is_empty() && !operation.has("get") {
        headers.add_default("Content-Type", "application/x-www-form-urlencoded");
    }
}

fn stdin(session: &mut Session<'_, '_>) -> Text {
    let text = session.stdin();
    session.values.text(&text)
}

fn method(operation: &Operation, is_upload: bool) -> String {
    if let Some(method) = &operation.method {
        return method.clone();
    }
    let has_body =
        !operation.form.is_empty() || (!operation.data.is_empty() && !operation.has("get"));
    match () {
        () if operation.has("head") => "HEAD",
        () if is_upload => "PUT",
        () if has_body => "POST",
        () => "GET",
    }
    .to_owned()
}

fn redirects(operation: &Operation) -> Redirects {
    if !operation.has("location") && !operation.has("location-trusted") {
        return Redirects::Stop;
    }
    let hops = operation.value("max-redirs").and_then(|text| text.trim().parse::<i64>().ok());
    let posts = [(301, "post301"), (302, "post302"), (303, "post303")];
    let is_upload = !operation.uploads.is_empty();
    let keeps_body = posts
        .iter()
        .filter(|(status, option)| operation.has(option) || (is_upload && *status != 303))
        .map(|(status, _)| *status);
    let rules = RedirectRules {
        hops_max: hops.map_or(HOPS_MAX, |hops| u32::try_from(hops).unwrap_or(HOPS_MAX)),
        keeps_method: operation
            .method
            .as_deref()
            .is_some_and(|method| method != "GET" && method != "HEAD"),
        keeps_body: keeps_body.collect(),
        trusts_hosts: operation.has("location-trusted"),
    };
    match rules.hops_max {
        0 => Redirects::Stop,
        HOPS_MAX if rules.is_plain() => Redirects::Follow,
        _ => Redirects::By(rules),
    }
}

/// How many redirects curl follows unless it is given a number.
const HOPS_MAX: u32 = 50;

/// A body that is one file as it is stays a file; one that is no text becomes bytes, as `-d` strips them.
fn body(session: &Session<'_, '_>, list: &[Data], data: &Text) -> Body {
    if let [one] = list
        && matches!(one.option, "data-binary" | "json")
        && let Some(path) = one.value.strip_prefix('@')
        && path != "-"
    {
        return Body::File { path: path.to_owned() };
    }
    if let [one] = list
        && matches!(one.option, "data" | "data-ascii")
        && let Some(mut bytes) = one.value.strip_prefix('@').and_then(|path| binary(session, path))
    {
        bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
        return Body::Bytes(bytes);
    }
    Body::Text(data.clone())
}

/// The bytes of a file, if they are no text.
fn binary(session: &Session<'_, '_>, path: &str) -> Option<Vec<u8>> {
    let bytes = session.input.files.read(path).ok()?;
    std::str::from_utf8(&bytes).is_err().then_some(bytes)
}

/// All data of an operation as one text.
fn data(session: &mut Session<'_, '_>, list: &[Data]) -> Text {
    let mut out = Text::default();
    for (at, one) in list.iter().enumerate() {
        if at > 0 && one.option != "json" {
            out.push_str("&");
        }
        let value = data_value(session, one);
        out.push(&value);
    }
    out
}

fn data_value(session: &mut Session<'_, '_>, data: &Data) -> Text {
    match data.option {
        "data-raw" => session.values.text(&data.value),
        "data-urlencode" => url_encoded(session, &data.value),
        option => match data.value.strip_prefix('@') {
            Some(path) => {
                let strips = matches!(option, "data" | "data-ascii");
                file_text(
                    session,
                    path,
                    if strips { Some(Encoding::WithoutLineEnds) } else { None },
                )
            }
            None => session.values.text(&data.value),
        },
    }
}

fn file_text(session: &mut Session<'_, '_>, path: &str, encoding: Option<Encoding>) -> Text {
    if path != "-" {
        if encoding == Some(Encoding::UrlForm)
            && let Some(bytes) = binary(session, path)
        {
            return Text::literal(url_parts::percent_encoded_bytes(&bytes).replace("%20", "+"));
        }
        let mut text = Text::default();
        text.push_value(Source::File { path: path.to_owned() }, encoding.into_iter().collect());
        return text;
    }
    let text = stdin(session);
    match encoding {
        Some(Encoding::WithoutLineEnds) => {
            text.encoded(|text| text.replace(['\r', '\n', '\0'], ""), Encoding::WithoutLineEnds)
        }
        Some(Encoding::UrlForm) => text.encoded(url_parts::form_encoded, Encoding::UrlForm),
        _ => text,
    }
}

/// `name=content`, `=content`, `content`, `name@file`, `@file`: the content is encoded.
fn url_encoded(session: &mut Session<'_, '_>, value: &str) -> Text {
    let encoded = |session: &Session<'_, '_>, text: &str| {
        session.values.text(text).encoded(url_parts::form_encoded, Encoding::UrlForm)
    };
    let Some(at) = value.find(['=', '@']) else { return encoded(session, value) };
    let (name, rest) = (&value[..at], &value[at + 1..]);
    let mut out = session.values.text(name);
    if !name.is_empty() {
        out.push_str("=");
    }
    let content = if value[at..].starts_with('=') {
        encoded(session, rest)
    } else {
        file_text(session, rest, Some(Encoding::UrlForm))
    };
    out.push(&content);
    out
}

fn address(session: &mut Session<'_, '_>, operation: &Operation, url: &Url, data: &Text) -> Text {
    let mut out = session.values.text(&format!("{}{}", url.scheme, url.host));
    let target = operation.value("request-target");
    if target.is_some_and(|target| !target.starts_with('/')) {
        session.note("a --request-target that begins with no slash is left out");
    }
    let target = target.filter(|target| target.starts_with('/'));
    out.push(&session.values.text(target.unwrap_or(&url.path)));
    let mut query = url.query.as_deref().map(|query| session.values.text(query));
    let mut add = |text: &Text| match &mut query {
        Some(query) => {
            if !query.is_empty() {
                query.push_str("&");
            }
            query.push(text);
        }
        none => *none = Some(text.clone()),
    };
    let in_query = operation.has("get") && !operation.data.is_empty();
    if in_query && !data.is_empty() {
        add(data);
    }
    // The data of `-G` stand in the place of `--url-query`.
    for one in operation.query.iter().filter(|_| !in_query) {
        let text = match one.strip_prefix('+') {
            Some(raw) => session.values.text(raw),
            None => url_encoded(session, one),
        };
        add(&text);
    }
    if let Some(query) = query {
        out.push_str("?");
        out.push(&query);
    }
    out
}

/// What curl's own options put into header fields.
fn fixed_headers(session: &mut Session<'_, '_>, operation: &Operation, headers: &mut Headers) {
    if let Some(agent) = operation.value("user-agent") {
        headers.add_default_text("User-Agent", session.values.text(agent));
    }
    if let Some(referer) = operation.value("referer") {
        let referer = referer.split(";auto").next().unwrap_or_default();
        if !referer.is_empty() {
            headers.add_default_text("Referer", session.values.text(referer));
        }
    }
    if let Some(range) = operation.value("range") {
        headers.add_default("Range", &format!("bytes={range}"));
    }
    if let Some(from) = operation.value("continue-at").filter(|from| *from != "-") {
        headers.add_default("Range", &format!("bytes={from}-"));
    }
    conditions(session, operation, headers);
    if operation.has("compressed") {
        headers.add_default("Accept-Encoding", "deflate, gzip, br, zstd");
    }
}

/// `-z DATE` and `--etag-compare FILE`.
fn conditions(session: &mut Session<'_, '_>, operation: &Operation, headers: &mut Headers) {
    if let Some(path) = operation.value("etag-compare") {
        let etag = session.read_text(path).unwrap_or_default();
        let etag = etag.trim();
        headers.add_default("If-None-Match", if etag.is_empty() { "\"\"" } else { etag });
    }
    let Some(time) = operation.value("time-cond") else { return };
    let (name, date) = match time.split_at_checked(1) {
        Some(("-", date)) => ("If-Unmodified-Since", date),
        Some(("=", date)) => ("Last-Modified", date),
        Some(("+", date)) => ("If-Modified-Since", date),
        _ => ("If-Modified-Since", time),
    };
    match http_date::of(date) {
        Some(date) => headers.add_default(name, &date),
        None => session.note("option --time-cond left out: its date is none that curl understands"),
    }
}

fn auth(
    session: &mut Session<'_, '_>,
    operation: &Operation,
    url: &Url,
    headers: &mut Headers,
) -> Option<Auth> {
    if headers.has("Authorization") {
        return None;
    }
    if let Some(token) = operation.value("oauth2-bearer") {
        return Some(Auth::Bearer(session.values.text(token)));
    }
    let pair = |user: &str| match user.split_once(':') {
        Some((user, password)) => (user.to_owned(), password.to_owned()),
        None => (user.to_owned(), String::new()),
    };
    let (user, password) = match (operation.value("user"), &url.user) {
        (Some(user), _) => pair(user),
        (None, Some(user)) => {
            let has_password = user.contains(':');
            let (user, password) = pair(user);
            let user = url_parts::percent_decoded(&user);
            let known =
                if has_password { None } else { netrc(session, operation, url, Some(&user)) };
            known.unwrap_or_else(|| (user, url_parts::percent_decoded(&password)))
        }
        (None, None) => netrc(session, operation, url, None)?,
    };
    let (user, password) = (session.values.text(&user), session.values.text(&password));
    if let Some(provider) = operation.value("aws-sigv4") {
        let parts: Vec<&str> = provider.split(':').collect();
        let host: Vec<&str> = url.host.split('.').collect();
        let part = |at: usize, from_host: Option<&&str>| {
            parts.get(at).copied().or_else(|| from_host.copied()).unwrap_or_default().into()
        };
        return Some(Auth::AwsV4 {
            key: user,
            secret: password,
            session_token: None,
            region: part(2, host.get(1)),
            service: part(3, host.first()),
        });
    }
    if operation.has("anyauth") {
        session.note("option --anyauth left out: the script logs in with Basic at once");
    }
    Some(if operation.has("digest") {
        Auth::Digest { user, password }
    } else {
        Auth::Basic { user, password }
    })
}

/// The login and password that a netrc file has for the host; of `user`, if the address names one.
fn netrc(
    session: &mut Session<'_, '_>,
    operation: &Operation,
    url: &Url,
    user: Option<&str>,
) -> Option<(String, String)> {
    let usual = operation.has("netrc") || operation.has("netrc-optional");
    let path = operation.value("netrc-file").or(usual.then_some(".netrc"))?.to_owned();
    cookies::netrc(&session.read_text(&path)?, &url.host, user)
}

/// `-b` of text, and of files; a header `Cookie` of `-H` replaces them.
fn cookie_header(
    session: &mut Session<'_, '_>,
    operation: &Operation,
    url: &Url,
    headers: &mut Headers,
) {
    let mut pairs: Vec<String> = vec![];
    for cookie in &operation.cookies {
        if cookie.contains('=') {
            pairs.push(cookie.clone());
        } else if let Ok(bytes) = session.input.files.read(cookie) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let now_s = session.input.files.now_s();
            let lasting = operation.has("junk-session-cookies");
            let text = if lasting { cookies::lasting(&text) } else { text };
            pairs.splice(0..0, cookies::for_url(&text, url, now_s));
        }
    }
    if !pairs.is_empty() {
        headers.add_default_text("Cookie", session.values.text(&pairs.join("; ")));
    }
}

/// curl keeps cookies only where `-b FILE` or `-c` switches that on; the file is the jar's name.
fn jar(session: &Session<'_, '_>, operation: &Operation) -> Cookies {
    let file = operation.cookies.iter().find(|cookie| !cookie.contains('='));
    match operation.cookie_jar.as_ref().or(file) {
        Some(name) => {
            let name = if name.is_empty() || name == "-" {
                format!("line {}", session.line)
            } else {
                name.clone()
            };
            Cookies::Jar(name)
        }
        None => Cookies::Forgotten,
    }
}
