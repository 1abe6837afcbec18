//! Command lines without what should not be stored: passwords in URLs, and the values of headers that say who one is.

use std::collections::BTreeMap;

use stdx::{is_redacted, names_secret, names_secret_field};

/// What stands in place of a secret.
const HIDDEN: &str = "…";

/// The arguments with `…` in place of secrets: passwords in URLs, values of `Authorization`, `Cookie` and the like, and values of
/// flags, variables and keys of queries whose name says that they are secrets.
#[must_use]
pub fn without_secrets(args: &[String]) -> Vec<String> {
    let before = std::iter::once("").chain(args.iter().map(String::as_str));
    let one = |(before, arg): (&str, &String)| match is_secret_flag(before) && !arg.starts_with('-')
    {
        true => HIDDEN.to_owned(),
        false => hidden(arg),
    };
    before.zip(args).map(one).collect()
}

/// Labels as they may be stored: as the flags that gave them.
pub(crate) fn labels_without_secrets(
    labels: impl IntoIterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    let shown = |(key, value): (String, String)| {
        let value = if is_secret(&key) { HIDDEN.to_owned() } else { hidden(&value) };
        (key, value)
    };
    labels.into_iter().map(shown).collect()
}

/// Whether an argument is the name of a flag whose value, a secret, is the next one.
fn is_secret_flag(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains(['=', ':', '/']) && is_secret(arg)
}

fn is_secret(name: &str) -> bool {
    names_secret(name) || is_redacted(name)
}

fn hidden(arg: &str) -> String {
    if let Some((name, _)) = arg.split_once(':')
        && !name.contains(['/', '?', '&'])
        && is_secret_field(name)
    {
        return format!("{name}: {HIDDEN}");
    }
    if let Some((name, value)) = arg.split_once('=') {
        // The name of a flag or variable, not the beginning of a URL's query.
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if is_name && is_secret(name) {
            return format!("{name}={HIDDEN}");
        }
        if is_name {
            return format!("{name}={}", hidden(value));
        }
    }
    without_password(arg)
}

/// Whether a header, perhaps behind a flag (`-header=Cookie`), has a secret as its value.
fn is_secret_field(name: &str) -> bool {
    let own = name.rsplit(['=', ' ']).next().unwrap_or(name);
    names_secret_field(name) || is_redacted(own)
}

/// `scheme://user:password@host` without the password, wherever it stands in the text.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        // The path of a URL whose beginning is a placeholder of a study: `{url}/?token=…`.
        return without_query_secrets(text);
    };
    let end = rest.find(['/', '?', '#', ' ', '"', '\'']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let shown = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}:{HIDDEN}@{host}")
        }
        None => authority.to_owned(),
    };
    format!("{scheme}://{shown}{}", without_password(&without_query_secrets(after)))
}

/// What follows the host of a URL, without the values of keys of its query that name secrets.
fn without_query_secrets(text: &str) -> String {
    stdx::without_query_values(text, HIDDEN, is_secret).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 42: they were hidden in the command line that is stored, and not in the labels beside it.
    #[test]
    fn labels_hide_what_arguments_hide() {
        let labels = [("password", "pw"), ("at", "http://u:pw@h/"), ("server", "puma")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let hidden = labels_without_secrets(labels);
        assert_eq!(hidden["password"], "…");
        assert_eq!((&*hidden["at"], &*hidden["server"]), ("http://u:…@h/", "puma"));
        assert_eq!(labels_without_secrets(hidden.clone()), hidden, "once is as good as twice");
    }

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        let cases = [
            ("Authorization: Bearer abc", "Authorization: …"),
            ("-header=Authorization: Bearer abc", "-header=Authorization: …"),
            ("cookie:a=b", "cookie: …"),
            ("Accept: text/html", "Accept: text/html"),
            ("X-Cookie-Count: 3", "X-Cookie-Count: 3"),
            ("http://kay:s3cret@host/x?a=b", "http://kay:…@host/x?a=b"),
            ("-proxy=http://kay:s3cret@host", "-proxy=http://kay:…@host"),
            ("API_TOKEN=abc", "API_TOKEN=…"),
            ("--password=abc", "--password=…"),
            ("-rate=50", "-rate=50"),
            ("-cookies=a=b; c=d", "-cookies=…"),
            ("--no-cookies-reset", "--no-cookies-reset"),
            ("{url}/?token=a&page=2", "{url}/?token=…&page=2"),
            ("X-Vault-Token: hv.abc", "X-Vault-Token: …"),
            ("-header=X-Session: a", "-header=X-Session: …"),
            ("Monkey: 3", "Monkey: 3"),
            ("API_KEY=abc", "API_KEY=…"),
            ("http://host/?token=a&page=2", "http://host/?token=…&page=2"),
            ("http://host/cb?%63ode=a;sig=b#jwt=c", "http://host/cb?%63ode=…#jwt=…"),
            ("http://host/x;jsessionid=a", "http://host/x;jsessionid=…"),
            ("SID=a", "SID=…"),
            ("zip_code=1", "zip_code=1"),
            (
                "-target=https://host/x?a=b&X-Amz-Signature=f0",
                "-target=https://host/x?a=b&X-Amz-Signature=…",
            ),
        ];
        for (arg, expected) in cases {
            assert_eq!(without_secrets(&[arg.to_owned()]), [expected], "{arg}");
        }
        let args = ["--password", "s3cret", "-token", "-rate", "5"].map(str::to_owned);
        assert_eq!(without_secrets(&args), ["--password", "…", "-token", "-rate", "5"]);
    }
}
