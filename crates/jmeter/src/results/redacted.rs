//! Results without the values that `-redact` hides.

use std::borrow::Cow;

use super::sample::SampleResult;

impl SampleResult {
    /// The sample, and those below it, as files may have them; `None` where nothing is to be hidden. Passwords of addresses are
    /// always; bodies of answers stay as they are, as in all results.
    #[must_use]
    pub fn redacted(&self) -> Option<Self> {
        if !self.has_password() {
            stdx::redacted_names()?;
        }
        let mut shown = self.clone();
        shown.hide();
        Some(shown)
    }

    fn has_password(&self) -> bool {
        let is_shown_otherwise = matches!(stdx::shown_url(&self.url), Cow::Owned(_));
        is_shown_otherwise || self.children.iter().any(Self::has_password)
    }

    fn hide(&mut self) {
        if let Cow::Owned(shown) = stdx::shown_url(&self.url) {
            self.url = shown;
        }
        self.query = shown_query(&self.query);
        self.request_headers = shown_lines(&self.request_headers);
        self.response_headers = shown_lines(&self.response_headers);
        if !self.cookies.is_empty() && stdx::is_redacted("Cookie") {
            "***".clone_into(&mut self.cookies);
        }
        for text in [&mut self.label, &mut self.message] {
            *text = shown_message(text);
        }
        for (name, value) in &mut self.variables {
            if stdx::is_redacted(name) {
                "***".clone_into(value);
            }
        }
        for assertion in &mut self.assertions {
            assertion.message = shown_message(&assertion.message);
        }
        self.children.iter_mut().for_each(Self::hide);
    }
}

/// A query, or the fields of a form: `a=1&token=***`.
fn shown_query(query: &str) -> String {
    let shown = stdx::redacted_query(&format!("?{query}"));
    shown.map_or_else(|| query.to_owned(), |shown| shown[1..].to_owned())
}

fn shown_lines(lines: &str) -> String {
    let shown = stdx::redacted_lines(lines.as_bytes());
    shown.map_or_else(|| lines.to_owned(), |shown| String::from_utf8_lossy(&shown).into_owned())
}

fn shown_message(text: &str) -> String {
    stdx::redacted_message(text).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_no_redacted_values() {
        let child = SampleResult {
            url: "http://u:PW1@h/x?token=PW2&a=1".to_owned(),
            query: "token=PW3&a=1".to_owned(),
            request_headers: "Authorization: Basic PW4\nAccept: */*\n".to_owned(),
            response_headers: "HTTP/1.1 200 OK\nSet-Cookie: sid=PW5\n".to_owned(),
            cookies: "sid=PW6".to_owned(),
            message: "no answer of http://h/?token=PW7".to_owned(),
            variables: vec![("password".to_owned(), "PW8".to_owned())],
            ..SampleResult::default()
        };
        let sample = SampleResult { children: vec![child.clone()], ..child };
        assert!(sample.redacted().is_some_and(|shown| !format!("{shown:?}").contains("PW1")));
        assert!(SampleResult::default().redacted().is_none());
        let user = SampleResult { url: "http://user@h/".to_owned(), ..SampleResult::default() };
        assert!(user.redacted().is_none(), "there is no password to hide");
        stdx::redact("secrets");
        let shown = format!("{:?}", sample.redacted().expect("something is hidden"));
        assert!(!shown.contains("PW"), "{shown}");
        for kept in ["http://u:***@h/x?token=***&a=1", "Accept: */*", "200 OK"] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
    }
}
