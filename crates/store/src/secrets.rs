//! Command lines without what should not be stored: passwords in URLs, and the values of headers that say who one is.

/// Headers whose value is a secret.
const HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "api-key"];
/// Words in the name of a flag or variable whose value is a secret.
const WORDS: [&str; 5] = ["password", "secret", "token", "passwd", "apikey"];
/// What stands in place of a secret.
const HIDDEN: &str = "…";

/// The arguments with `…` in place of secrets: passwords in URLs, values of `Authorization`, `Cookie` and the like, and values of
/// flags and variables whose name has `password`, `secret` or `token`.
#[must_use]
pub fn without_secrets(args: &[String]) -> Vec<String> {
    args.iter().map(|arg| hidden(arg)).collect()
}

fn hidden(arg: &str) -> String {
    if let Some((name, _)) = arg.split_once(':')
        && HEADERS.iter().any(|header| ends_with_word(name, header))
    {
        return format!("{name}: {HIDDEN}");
    }
    if let Some((name, value)) = arg.split_once('=') {
        let small = name.to_ascii_lowercase();
        // The name of a flag or variable, not the beginning of a URL's query.
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if is_name && WORDS.iter().any(|word| small.contains(word)) {
            return format!("{name}={HIDDEN}");
        }
        if is_name {
            return format!("{name}={}", hidden(value));
        }
    }
    without_password(arg)
}

/// Whether a text is this word, or ends with it after something that is no letter.
fn ends_with_word(text: &str, word: &str) -> bool {
    let text = text.trim_end().to_ascii_lowercase();
    let Some(before) = text.strip_suffix(word) else { return false };
    !before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '-')
}

/// `scheme://user:password@host` without the password, wherever it stands in the text.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#', ' ', '"', '\'']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let shown = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}:{HIDDEN}@{host}")
        }
        None => authority.to_owned(),
    };
    format!("{scheme}://{shown}{}", without_password(after))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("http://host/?token=a", "http://host/?token=a"),
        ];
        for (arg, expected) in cases {
            assert_eq!(without_secrets(&[arg.to_owned()]), [expected], "{arg}");
        }
    }
}
