//! Values of flags that only commands with load take: rates.

use cli::ValueError;
use workload::arrival::{ParsedRate, Rate, RateError};

/// `N`, `N/unit`, `N/duration`, `infinity`.
pub(crate) fn rate(text: &str) -> Result<ParsedRate, ValueError> {
    Rate::parse(text).map_err(|error| {
        let hits = text.split('/').next().unwrap_or_default();
        let go = match &error {
            RateError::Invalid(_) => format!("strconv.Atoi: parsing \"{hits}\": invalid syntax"),
            RateError::Per { source, .. } => source.go(),
            RateError::TooHigh(_) if hits.parse::<i64>().is_err() => {
                format!("strconv.Atoi: parsing \"{hits}\": value out of range")
            }
            RateError::TooHigh(_) => error.to_string(),
        };
        ValueError::with_go(error.to_string(), go)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_rates_have_the_words_of_both_dialects() {
        assert_eq!(rate("infinity"), Ok(ParsedRate::Infinity));
        let cases = [
            ("x", "strconv.Atoi: parsing \"x\": invalid syntax"),
            ("5/parsec", "time: invalid duration \"parsec\""),
            ("5/1x", "time: unknown unit \"x\" in duration \"1x\""),
            ("5/1", "time: missing unit in duration \"1\""),
            ("9223372036854775808", "parsing \"9223372036854775808\": value out of range"),
            ("2000000000", "too high"),
        ];
        for (text, words) in cases {
            let wrong = rate(text).unwrap_err();
            assert!(wrong.go.contains(words), "{text}: {}", wrong.go);
            assert!(wrong.native.contains(text), "{}", wrong.native);
        }
    }
}
