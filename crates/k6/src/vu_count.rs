//! How many virtual users a test may have at once: no more than there is memory for. It is looked at before any is made.

use script::Options;

use crate::error::K6Error;

/// What a user takes on the machine that has its users elsewhere: its number, in bytes.
const NUMBER_BYTES: usize = 8;

/// How many users there is memory for, at most; of a fleet, whose agents look at theirs, how many can be counted.
pub(super) fn vus_max(is_fleet: bool) -> u64 {
    if is_fleet { (stdx::memory_left() / NUMBER_BYTES) as u64 } else { script::vus_that_fit() }
}

/// Refuses a test that has more users than `most` from the start of a scenario on.
///
/// # Errors
/// It has.
pub(super) fn check(options: &Options, most: u64) -> Result<(), K6Error> {
    let own = options.segment.vus();
    for scenario in &options.scenarios {
        let wanted = own.count(scenario.executor.vus_from_start());
        if wanted > most {
            return Err(K6Error::config(format!(
                "scenario {}: {wanted} virtual users do not fit into memory, {most} may ({})",
                scenario.name,
                stdx::memory_limit_in_words()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    mod regression {
        use super::*;

        fn options(json: &str) -> Options {
            Options::of(serde_json::from_str(json).expect("JSON")).expect("options")
        }

        /// A thousand million users took 8 GB before the first was made.
        #[test]
        fn issue_19_users_that_cannot_fit_are_refused() {
            for (json, refused) in [
                (
                    r#"{"vus":1000000000,"duration":"1s"}"#,
                    Some(
                        "scenario default: 1000000000 virtual users do not fit into memory, 4000 may (-memory-limit: ",
                    ),
                ),
                (r#"{"vus":4000,"duration":"1s"}"#, None),
                (r#"{"vus":4001,"duration":"1s"}"#, Some("scenario default: 4001 virtual users")),
                (
                    r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":1,"duration":"1s","preAllocatedVUs":4000,"maxVUs":5000}}}"#,
                    None,
                ),
                (
                    r#"{"scenarios":{"s":{"executor":"ramping-vus","stages":[{"target":5000,"duration":"1s"}]}}}"#,
                    Some("scenario s: 5000 virtual users"),
                ),
                (r#"{"vus":8000,"duration":"1s","executionSegment":"0:1/2"}"#, None),
            ] {
                let error = check(&options(json), 4000).map_err(|error| error.text);
                match refused {
                    None => assert_eq!(error, Ok(()), "{json}"),
                    Some(text) => {
                        let error = error.expect_err(json);
                        assert!(error.starts_with(text), "{error}");
                    }
                }
            }
            assert!(vus_max(true) > vus_max(false));
        }
    }
}
