//! `-cookies`: cookies for the targets of a test, as they are written in a `Cookie` field, or from the file of a browser or of
//! `curl -c`, whose cookies go to the hosts and paths that they are of. It keeps no cookie that a response sets.
//!
//! The file's form is Netscape's: a cookie a line, seven fields with tabs between: domain, whether hosts below it get it too,
//! path, whether it is for HTTPS alone, the Unix time of its end (0: that of the session), name, value.

use std::time::SystemTime;

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, input};
use script::{Jar, SetCookie};
use stdx::Nanos;
use wire::url::Url;
use workload::{Target, TargetList, TargetRef};

use super::flags::Cookies;

/// What browsers write before the domain of a cookie that no script of a page sees.
const HTTP_ONLY: &str = "#HttpOnly_";

/// Gives the targets without a `Cookie` field of their own the cookies of `-cookies`.
///
/// # Errors
/// The file cannot be read, a line is no cookie, or none of them is for a target.
pub(super) fn add(list: &mut TargetList, cookies: Option<&Cookies>) -> Result<(), CommandError> {
    let path = match cookies {
        None => return Ok(()),
        Some(Cookies::Field(value)) => {
            fields(list, |_| Some(value.clone()));
            return Ok(());
        }
        Some(Cookies::File(path)) => path,
    };
    let now = now();
    let jar = read(path, now)?;
    if fields(list, |target| field(&jar, &target.url, now)) == 0 && !list.is_empty() {
        let error = anyhow!(
            "{path}: no cookie is for a target: they are of other hosts or paths, or over (nothing was sent)"
        );
        return Err(wrong(error).into());
    }
    Ok(())
}

/// The `Cookie` field of requests to this URL, of the cookies in a file.
///
/// # Errors
/// As [`add`].
pub(super) fn of_url(path: &str, url: &str) -> Result<String, CommandError> {
    let now = now();
    field(&read(path, now)?, url, now).ok_or_else(|| {
        let url = stdx::shown_url(url);
        let error = anyhow!(
            "{path}: no cookie is for {url}: they are of other hosts or paths, or over (nothing was sent)"
        );
        wrong(error).into()
    })
}

fn now() -> Nanos {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().into()
}

fn wrong(error: anyhow::Error) -> ExitError {
    ExitError { code: ExitCode::Input, error }
}

fn read(path: &str, now: Nanos) -> Result<Jar, CommandError> {
    let text = input::read_text(path)?;
    let jar = jar(&String::from_utf8_lossy(&text), now);
    Ok(jar.map_err(|problem| wrong(anyhow!("{path}: {problem}")))?)
}

/// Adds a field to each target that has none and gets one; how many have one.
fn fields(list: &mut TargetList, of: impl Fn(&Target) -> Option<String>) -> usize {
    let mut count = 0;
    let with_field = |mut target: Target| {
        if target.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            count += 1;
        } else if let Some(value) = of(&target) {
            target.headers.push(("Cookie".to_owned(), value));
            count += 1;
        }
        target
    };
    *list = list.iter().map(TargetRef::to_target).map(with_field).collect();
    count
}

/// The value of the field for a URL; `None` where no cookie is for it.
fn field(jar: &Jar, url: &str, now: Nanos) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let pairs = jar.cookies_for(&url, now).into_iter().map(|(name, value, quoted)| match quoted {
        true => format!("{name}=\"{value}\""),
        false => format!("{name}={value}"),
    });
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| pairs.join("; "))
}

/// The cookies of a file; those that are over are left out.
///
/// # Errors
/// A line is no cookie: the first, and how many more.
fn jar(text: &str, now: Nanos) -> Result<Jar, String> {
    let (mut jar, mut wrong) = (Jar::default(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let (line, http_only) = match line.strip_prefix(HTTP_ONLY) {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match cookie(line) {
            Some((url, cookie)) => jar.set(&url, SetCookie { http_only, ..cookie }, now),
            None => wrong.push(number),
        }
    }
    match wrong[..] {
        [] => Ok(jar),
        [first, ref rest @ ..] => {
            let more =
                if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            Err(format!(
                "line {first} is no cookie: expected seven fields with tabs between, as curl -c writes them{more} (nothing was sent)"
            ))
        }
    }
}

/// A cookie, and a URL of the host that it is of.
fn cookie(line: &str) -> Option<(Url, SetCookie)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, below, path, secure, expires, name, value] = fields[..] else { return None };
    let host = domain.trim_start_matches('.');
    let url = Url::parse(&format!("https://{host}/")).ok()?;
    let mut cookie = SetCookie::parse(&format!("{name}={value}"))?;
    if below.eq_ignore_ascii_case("true") {
        host.clone_into(&mut cookie.domain);
    }
    path.clone_into(&mut cookie.path);
    cookie.secure = secure.eq_ignore_ascii_case("true");
    cookie.expires = Some(expires.parse::<i64>().ok()?).filter(|end| *end != 0);
    Some((url, cookie))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn target(url: &str) -> Target {
        Target {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        }
    }

    #[test]
    fn a_file_of_curl_gives_each_target_its_own_cookies() {
        let text = "# Netscape HTTP Cookie File\n\n\
            #HttpOnly_shop.test\tFALSE\t/\tFALSE\t0\t_session\tabc%3D\n\
            .shop.test\tTRUE\t/cart\tFALSE\t2000000000\tcart\t7\n\
            shop.test\tFALSE\t/\tTRUE\t0\tsafe\t1\n\
            shop.test\tFALSE\t/\tFALSE\t1000\tover\t1\n";
        let now = Nanos::from_secs(1_700_000_000);
        let jar = jar(text, now).unwrap();
        let cases = [
            ("http://shop.test/", Some("_session=abc%3D")),
            ("http://shop.test/cart/1", Some("cart=7; _session=abc%3D")),
            ("https://shop.test/", Some("_session=abc%3D; safe=1")),
            ("http://www.shop.test/cart", Some("cart=7")),
            ("http://www.shop.test/", None),
            ("http://other.test/", None),
        ];
        for (url, expect) in cases {
            assert_eq!(field(&jar, url, now).as_deref(), expect, "{url}");
        }
    }

    #[test]
    fn issue_39_a_cable_gets_the_cookies_of_its_host() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("jar");
        std::fs::write(&path, "shop.test\tFALSE\t/\tFALSE\t0\t_session\tabc\n").unwrap();
        let name = path.to_str().unwrap();
        assert_eq!(of_url(name, "http://shop.test/cable").ok().as_deref(), Some("_session=abc"));
        assert!(of_url(name, "http://other.test/cable").is_err());
        std::fs::remove_file(path).ok();
    }

    #[test]
    fn lines_that_are_no_cookies_are_named() {
        let text = "shop.test\tFALSE\t/\tFALSE\t0\ta\t1\nshop.test a=1\nx\ty\n";
        let error = jar(text, Nanos::ZERO).unwrap_err();
        assert!(error.starts_with("line 2 is no cookie: expected seven fields"), "{error}");
        assert!(error.contains("(and 1 more)"), "{error}");
        assert!(jar("shop.test\tFALSE\t/\tFALSE\tnever\ta\t1\n", Nanos::ZERO).is_err());
    }

    #[test]
    fn cookies_themselves_go_to_every_target_without_its_own() {
        let mut own = target("http://b/");
        own.headers.push(("cookie".to_owned(), "own=1".to_owned()));
        let mut list = TargetList::from(vec![target("http://a/"), own]);
        add(&mut list, Some(&Cookies::Field("a=1; b=2".to_owned()))).unwrap();
        let headers: Vec<_> = list.iter().map(|target| target.headers).collect();
        assert_eq!(headers[0], [("Cookie".to_owned(), "a=1; b=2".to_owned())]);
        assert_eq!(headers[1].len(), 1);
        add(&mut list, None).unwrap();
        assert!(add(&mut list, Some(&Cookies::File("/nowhere/jar".to_owned()))).is_err());
    }
}
