//! Orders of browsers: the JSON of `POST /load`.

use engine::LoadChange;
use serde_json::Value;
use workload::arrival::{ParsedRate, Rate};

/// The change that a body asks for: `{"paused": true}`, `{"rate": "500/s"}` or `{"users": 10}`.
///
/// # Errors
/// The body is none of these; a sentence for the page.
pub(super) fn load_change(body: &[u8]) -> Result<LoadChange, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?;
    if let Some(paused) = body["paused"].as_bool() {
        return Ok(if paused { LoadChange::Pause } else { LoadChange::Resume });
    }
    if let Some(users) = body["users"].as_u64() {
        return Ok(LoadChange::Users(users));
    }
    let Some(rate) = body["rate"].as_str() else {
        return Err("a change has \"paused\", \"rate\" or \"users\"".to_owned());
    };
    match Rate::parse(rate.trim()) {
        Ok(ParsedRate::Rate(rate)) => Ok(LoadChange::Rate(rate)),
        Ok(ParsedRate::AsFastAsPossible) => Err("a rate of 0 is a pause".to_owned()),
        Ok(ParsedRate::Infinity) => Err("a rate is a number".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_one_change_or_a_sentence() {
        let change = |body: &str| load_change(body.as_bytes());
        assert_eq!(change(r#"{"paused":true}"#), Ok(LoadChange::Pause));
        assert_eq!(change(r#"{"paused":false}"#), Ok(LoadChange::Resume));
        assert_eq!(change(r#"{"users":12}"#), Ok(LoadChange::Users(12)));
        let rate = Rate::parse("90/m").unwrap();
        let ParsedRate::Rate(rate) = rate else { panic!("a rate") };
        assert_eq!(change(r#"{"rate":" 90/m"}"#), Ok(LoadChange::Rate(rate)));
        for wrong in ["", "[]", "{}", r#"{"rate":5}"#, r#"{"rate":"0"}"#, r#"{"rate":"x"}"#] {
            assert!(change(wrong).is_err(), "{wrong}");
        }
        assert!(change(r#"{"users":-1}"#).is_err());
    }
}
