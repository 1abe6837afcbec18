//! `fleet rm` and `fleet token`: who may join a fleet, and who is put out.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use cli::{CommandError, ExitCode, ExitError, eprint_line, usage_error};
use control::TokenTerms;
use fleet::Name;
use stdx::Nanos;

use super::output::print_line;
use crate::command::control_failure::failed;
use crate::flags::fleet::FleetUpFlags;

/// Puts an agent out of the fleet.
pub(super) fn remove(dir: &Path, agent: &str) -> Result<ExitCode, CommandError> {
    let name = Name::new(agent).map_err(|error| usage_error(format!("\"{agent}\": {error}")))?;
    control::remove_agent(dir, &name).map_err(failed)?;
    eprint_line(&format!(
        "fleet: {name} is out; who has the joining token may come by another key (brunt fleet token -new)"
    ));
    Ok(ExitCode::Ok)
}

/// Prints the joining token, or makes another and prints that.
pub(super) fn run(dir: &Path, flags: &FleetUpFlags) -> Result<ExitCode, CommandError> {
    if flags.new {
        control::renew_token(dir, flags.token).map_err(failed)?;
    }
    let (token, terms) = control::token(dir).map_err(failed)?;
    eprint_line(&format!("fleet: {}", words(terms, unix_s())));
    print_line(&token).map_err(ExitError::from)?;
    Ok(ExitCode::Ok)
}

/// What a token is good for yet.
fn words(terms: TokenTerms, now_s: u64) -> String {
    match (terms.ends_s.saturating_sub(now_s), terms.left) {
        (0, _) => "the token has ended: no new machine joins by it".to_owned(),
        (_, 0) => "as many machines joined by the token as may".to_owned(),
        (left_s, left) => {
            let machines = stdx::counted(u64::from(left), "new machine");
            format!("{machines} may join by the token, for {}", Nanos::from_secs(left_s))
        }
    }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_token_is_good_for_is_said() {
        let words = |ends_s, left| words(TokenTerms { ends_s, left }, 1000);
        assert!(words(1000, 5).contains("has ended") && words(1001, 0).contains("as many"));
        assert_eq!(words(1060, 5), "5 new machines may join by the token, for 1m0s");
    }
}
