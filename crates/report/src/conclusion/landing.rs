//! The sentence on answers that all came from another page than was asked for.

use super::elsewhere::{Elsewhere, asks_for_login};
use super::facts::Facts;
use super::sentence::{Kind, Sentence};
use super::words::time;
use crate::figure::shortened;
use crate::number::grouped;

/// Names in the sentence; the rest is counted.
const NAMES_SHOWN: usize = 2;
/// Characters of a name or a path; more are cut.
const NAME_MAX: usize = 100;

/// `All 160 answers of GET http://h/account come from /login, …`.
pub(super) fn sentence(facts: &Facts) -> Option<Sentence> {
    let elsewhere = facts.elsewhere.as_ref()?;
    let mut names: Vec<String> =
        elsewhere.names.iter().take(NAMES_SHOWN).map(|name| shortened(name, NAME_MAX)).collect();
    let more = elsewhere.names.len().saturating_sub(NAMES_SHOWN);
    if more > 0 {
        names.push(format!("{} more", grouped(more as u64)));
    }
    let of = stdx::list_and(&names);
    let answers = match elsewhere.requests {
        some if elsewhere.others > 0 => {
            format!("{} of {} answers", grouped(some), grouped(some + elsewhere.others))
        }
        1 => "The only answer".to_owned(),
        count => format!("All {} answers", grouped(count)),
    };
    let to = shortened(&elsewhere.to, NAME_MAX);
    let (comes, is) = if elsewhere.requests == 1 {
        ("comes", "is a redirect")
    } else {
        ("come", "are redirects")
    };
    let what = match elsewhere.is_redirect {
        true => format!("{is} to {to}, not followed"),
        false => format!("{comes} from {to}, where redirects led"),
    };
    let why = match (elsewhere.is_redirect, asks_for_login(&elsewhere.to)) {
        _ if elsewhere.others > 0 => {
            "the session was lost, and these are no pages that were asked for"
        }
        (true, true) => "the session is missing, and no page was measured",
        (true, false) => "it is the redirect that was measured, and no page",
        (false, true) => "the session is missing, so it is the log-in that was measured",
        (false, false) => "it is that page that was measured, with the redirects to it",
    };
    let text = format!("{answers} of {of} {what}{}: {why}.", moment(elsewhere));
    let figures = vec![("led_elsewhere", elsewhere.requests as f64)];
    Some(Sentence { kind: Kind::Caution, text, figures })
}

/// `, all of them from 6s on`.
fn moment(elsewhere: &Elsewhere) -> String {
    match elsewhere.span.filter(|_| elsewhere.others > 0) {
        None => String::new(),
        Some((from, None)) => format!(", all of them from {} on", time(from)),
        Some((from, Some(until))) => {
            format!(", all of them from {} to {}", time(from), time(until))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclusion::Conclusion;
    use crate::conclusion::tests::steady;

    #[test]
    fn names_whose_answers_all_came_from_elsewhere_are_said() {
        let said = |names: &[&str], to: &str, requests| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let elsewhere =
                Some(Elsewhere { names, to: to.to_owned(), requests, ..Elsewhere::default() });
            sentence(&Facts { elsewhere, ..Facts::default() }).expect("a sentence").text
        };
        assert_eq!(
            said(&["GET http://h/account"], "/users/sign_in", 1600),
            "All 1,600 answers of GET http://h/account come from /users/sign_in, where redirects led: the session is missing, \
             so it is the log-in that was measured."
        );
        let three = said(&["a", "b", "c"], "/en", 9);
        assert!(
            three.starts_with("All 9 answers of a, b and 1 more come from /en, where"),
            "{three}"
        );
        assert!(three.ends_with("it is that page that was measured, with the redirects to it."));
        assert_eq!(sentence(&Facts::default()), None);
        // Where it is most of what was asked for, it is no success.
        let led = |requests| {
            let elsewhere = Some(Elsewhere {
                names: vec!["GET http://h/account".to_owned()],
                to: "/login".to_owned(),
                requests,
                ..Elsewhere::default()
            });
            Conclusion::from_facts(&Facts { elsewhere, ..steady() })
        };
        let all = led(1_800);
        assert!(all.first().starts_with("All 1,800 answers of GET http://h/account come from"));
        assert!(!all.badge().contains("good"), "{}", all.badge());
        assert_eq!(all.server_line(), "Server: kept up with 60/s for a log-in page, no errors\n");
        let few = led(20);
        assert!(few.first().starts_with("60/s for 30s, ") && few.badge().contains("good"));
        let lost = Elsewhere {
            names: vec!["GET http://h/account".to_owned()],
            to: "/login".to_owned(),
            requests: 900,
            others: 900,
            span: Some((stdx::Nanos::from_secs(15), None)),
            ..Elsewhere::default()
        };
        let lost = Conclusion::from_facts(&Facts { elsewhere: Some(lost), ..steady() });
        assert_eq!(
            lost.first(),
            "900 of 1,800 answers of GET http://h/account come from /login, where redirects led, all of them from 15s on: the \
             session was lost, and these are no pages that were asked for."
        );
        assert!(!lost.badge().contains("good"), "{}", lost.badge());
        let kept = |to: &str, requests| {
            let names = vec!["GET http://h/account".to_owned()];
            let elsewhere = Some(Elsewhere {
                names,
                to: to.to_owned(),
                requests,
                is_redirect: true,
                ..Elsewhere::default()
            });
            sentence(&Facts { elsewhere, ..Facts::default() }).expect("a sentence").text
        };
        assert_eq!(
            kept("/login", 160),
            "All 160 answers of GET http://h/account are redirects to /login, not followed: the session is missing, and no page \
             was measured."
        );
        assert!(kept("/en", 1).contains("is a redirect to /en, not followed: it is the redirect"));
    }
}
