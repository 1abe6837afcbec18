//! `Environment`: the variables that set up outputs, with errors that name the variable.

use std::time::Duration;

use stdx::Nanos;

use crate::error::OutputError;

/// Variables of an environment. An empty value is as good as none.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(String, String)>);

impl Environment {
    /// That of this process; variables that are not UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(utf8).collect())
    }

    /// One of these variables alone.
    #[must_use]
    pub fn of(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(variables.iter().map(owned).collect())
    }

    pub(crate) fn text(&self, variable: &str) -> Option<&str> {
        let named = self.0.iter().find(|(name, _)| name == variable);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The variables whose names begin so: what follows, and the value.
    pub(crate) fn beginning(&self, begin: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(move |(name, value)| {
            name.strip_prefix(begin).map(|rest| (rest, value.as_str()))
        })
    }

    pub(crate) fn switch(
        &self,
        variable: &'static str,
        default: bool,
    ) -> Result<bool, OutputError> {
        match self.text(variable) {
            None => Ok(default),
            // What Go's strconv.ParseBool takes.
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(value) => Err(wrong(variable, value, "true or false")),
        }
    }

    pub(crate) fn duration(
        &self,
        variable: &'static str,
        default: Duration,
    ) -> Result<Duration, OutputError> {
        let Some(value) = self.text(variable) else { return Ok(default) };
        let wanted = "a duration of at least 1ms, such as 5s";
        let parsed = Nanos::parse(value).map_err(|_| wrong(variable, value, wanted))?;
        let parsed = Duration::from(parsed);
        if parsed < Duration::from_millis(1) {
            return Err(wrong(variable, value, wanted));
        }
        Ok(parsed)
    }

    pub(crate) fn number(
        &self,
        variable: &'static str,
        default: usize,
    ) -> Result<usize, OutputError> {
        let Some(value) = self.text(variable) else { return Ok(default) };
        let number = value.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| wrong(variable, value, "a number above 0"))
    }

    /// The file that a variable names.
    pub(crate) fn file(&self, variable: &'static str) -> Result<Option<Vec<u8>>, OutputError> {
        let Some(path) = self.text(variable) else { return Ok(None) };
        std::fs::read(path).map(Some).map_err(|error| OutputError::File {
            variable,
            path: shown_path(path),
            error: error.to_string(),
        })
    }
}

/// The error of a variable with this value, which is shown where it can be no secret, and only its beginning.
pub(crate) fn wrong(variable: &'static str, value: &str, wanted: &'static str) -> OutputError {
    let can_be_secret = stdx::names_secret_field(variable)
        || SECRETS.iter().any(|part| variable.contains(part))
        || value.contains(['=', '@', ' ', '\n']);
    let value = match value.char_indices().nth(VALUE_SHOWN_MAX) {
        _ if can_be_secret => HIDDEN.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    };
    OutputError::Variable { variable, value, wanted }
}

/// Parts of the names of variables whose values have headers or keys.
const SECRETS: [&str; 3] = ["HEADER", "CERTIFICATE", "USERNAME"];
/// What stands in place of a value.
const HIDDEN: &str = "…";
/// Characters of a value that an error shows: a token is longer.
const VALUE_SHOWN_MAX: usize = 24;

/// The path in a variable; who gave the key itself in its place does not read it in an error.
fn shown_path(path: &str) -> String {
    let is_path = path.len() <= PATH_MAX && !path.contains(['\n', '\r']);
    if is_path && !path.contains("-----") { path.to_owned() } else { HIDDEN.to_owned() }
}

/// Bytes of a path, at most.
const PATH_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_used_name_their_variable() {
        let of =
            Environment::of(&[("A", "5"), ("B", "maybe"), ("C", "0"), ("D", "/none"), ("E", "")]);
        let errors = [
            of.duration("A", Duration::ZERO).map(|_| ()).unwrap_err().to_string(),
            of.switch("B", true).map(|_| ()).unwrap_err().to_string(),
            of.number("C", 1).map(|_| ()).unwrap_err().to_string(),
            of.file("D").map(|_| ()).unwrap_err().to_string(),
        ];
        assert_eq!(errors[0], "A=\"5\": a duration of at least 1ms, such as 5s");
        assert_eq!(errors[1], "B=\"maybe\": true or false");
        assert_eq!(errors[2], "C=\"0\": a number above 0");
        assert!(errors[3].starts_with("D: /none: "), "{}", errors[3]);
        assert_eq!(of.text("E"), None);
        // Issue 42, F14: a list of headers with `=` for `:` was printed whole.
        for (variable, value) in [
            ("K6_PROMETHEUS_RW_HTTP_HEADERS", "Authorization=Bearer canary42"),
            ("K6_OTEL_HEADERS", "canary42"),
            ("K6_INFLUXDB_PUSH_INTERVAL", "token=canary42"),
            ("K6_INFLUXDB_PUSH_INTERVAL", "a-long-token-of-a-server-canary42"),
        ] {
            let text = wrong(variable, value, "a list").to_string();
            assert!(text.starts_with(variable) && !text.contains("canary42"), "{text}");
        }
        let key = "-----BEGIN PRIVATE KEY-----\ncanary42";
        let error = Environment::of(&[("D", key)]).file("D").map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("D: …: ") && !error.contains("canary42"), "{error}");
        assert_eq!(of.duration("E", Duration::from_secs(2)).unwrap(), Duration::from_secs(2));
    }
}
