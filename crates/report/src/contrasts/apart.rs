//! `Apart`: what two variants are of, where that is not the same: what was attacked, by which kind of loop, and from which machine.
//! It is said before anything is called slower or faster.

use std::collections::BTreeSet;

use metrics::AttackedTarget;
use stdx::plural;

use crate::figure::shortened;

/// Targets of a run that are compared one by one; a run with more is compared by its methods and servers.
const TARGETS_MAX: usize = 100;
/// Variants with so few targets, none of which both have, are of different tests; many may be the ids of a script.
const FEW: usize = 10;
/// Characters of a target in a sentence.
const NAME_MAX: usize = 100;

/// What a run was of, beside its load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSubject {
    targets: BTreeSet<Target>,
    /// There are more than these.
    has_more: bool,
    /// The machine that offered the load; `None` where that is not known.
    pub machine: Option<RunMachine>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    method: String,
    /// `http://127.0.0.1:3000`.
    server: String,
    path: String,
}

/// The machine that offered a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunMachine {
    /// Its name.
    pub host: String,
    /// Its processor and how many cores of it brunt might use.
    pub processor: String,
}

/// One thing that two variants do not have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Apart {
    /// Its name in JSON.
    pub(super) what: &'static str,
    /// `a requested GET http://h/x and b GET http://h/y`.
    pub(super) words: String,
    /// Whether it may be all that differs. Two servers may be what is to be compared.
    pub(super) is_doubt: bool,
}

impl RunSubject {
    /// Of a run's targets, those with the most requests first; `is_whole` is false where there were more.
    #[must_use]
    pub fn of(targets: &[AttackedTarget], is_whole: bool) -> Self {
        let has_more = !is_whole || targets.len() > TARGETS_MAX;
        let targets = targets.iter().take(TARGETS_MAX).map(Target::of).collect();
        Self { targets, has_more, machine: None }
    }
}

impl Target {
    fn of(target: &AttackedTarget) -> Self {
        let url = stdx::shown_url(&target.url);
        let host = url.find("://").map_or(0, |at| at + 3);
        let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
        Self {
            method: target.method.clone(),
            server: url[..end].to_owned(),
            path: url[end..].to_owned(),
        }
    }

    fn without_server(&self) -> (&str, &str) {
        (&self.method, &self.path)
    }

    fn name(&self) -> String {
        shortened(format!("{} {}{}", self.method, self.server, self.path).trim(), NAME_MAX)
    }
}

/// What a variant is of, over its runs.
struct Subject<'a> {
    label: &'a str,
    targets: BTreeSet<&'a Target>,
    has_more: bool,
    /// Empty where one run's is not known.
    machines: BTreeSet<&'a RunMachine>,
}

impl<'a> Subject<'a> {
    fn of((label, runs): (&'a str, &[&'a RunSubject])) -> Self {
        let all_known = runs.iter().all(|run| run.machine.is_some());
        let machines = runs.iter().filter_map(|run| run.machine.as_ref().filter(|_| all_known));
        Self {
            label,
            targets: runs.iter().flat_map(|run| &run.targets).collect(),
            has_more: runs.iter().any(|run| run.has_more),
            machines: machines.collect(),
        }
    }

    fn set<T: Ord>(&self, of: impl Fn(&'a Target) -> T) -> BTreeSet<T> {
        self.targets.iter().map(|target| of(target)).collect()
    }

    /// `GET http://h/x`, `12 targets`.
    fn requested(&self) -> String {
        match (self.has_more, self.targets.len(), self.targets.first()) {
            (false, 1, Some(one)) => one.name(),
            (more, count, _) => {
                let more = if more { "more than " } else { "" };
                format!("{more}{count} {}", plural(count as u64, "target"))
            }
        }
    }
}

/// What two variants do not have in common, each with its label and what its runs are of; of what is not known, nothing.
pub(super) fn apart(first: (&str, &[&RunSubject]), other: (&str, &[&RunSubject])) -> Vec<Apart> {
    let (a, b) = (Subject::of(first), Subject::of(other));
    targets(&a, &b).into_iter().chain(machines(&a, &b)).collect()
}

fn targets(a: &Subject<'_>, b: &Subject<'_>) -> Option<Apart> {
    if a.targets.is_empty() || b.targets.is_empty() {
        return None;
    }
    let methods = [a, b].map(|one| one.set(|target| target.method.as_str()));
    let lines = [a, b].map(|one| one.set(Target::without_server));
    let is_comparable = !a.has_more && !b.has_more;
    if methods[0] != methods[1] || is_comparable && lines[0] != lines[1] {
        let both = lines[0].intersection(&lines[1]).count();
        let is_one_each = is_comparable && a.targets.len() == 1 && b.targets.len() == 1;
        let part = match (is_one_each, methods[0] != methods[1]) {
            (true, _) => String::new(),
            (false, true) => format!(", with {} and with {}", list(&methods[0]), list(&methods[1])),
            (false, false) => format!(", of which both have {both}"),
        };
        let words = format!(
            "{} requested {} and {} {}{part}",
            a.label,
            a.requested(),
            b.label,
            b.requested()
        );
        let is_doubt =
            methods[0] != methods[1] || both == 0 && a.targets.len().min(b.targets.len()) <= FEW;
        return Some(Apart { what: "targets", words, is_doubt });
    }
    let [servers_a, servers_b] = [a, b].map(|one| one.set(|target| target.server.as_str()));
    (servers_a != servers_b).then(|| {
        let (at_a, at_b) = (list(&servers_a), list(&servers_b));
        let words = format!("{} was measured at {at_a} and {} at {at_b}", a.label, b.label);
        Apart { what: "servers", words, is_doubt: false }
    })
}

fn machines(a: &Subject<'_>, b: &Subject<'_>) -> Option<Apart> {
    if a.machines.is_empty() || b.machines.is_empty() || a.machines == b.machines {
        return None;
    }
    let names = |one: &Subject<'_>| {
        let name = |machine: &&RunMachine| format!("{} ({})", machine.host, machine.processor);
        list(&one.machines.iter().map(name).collect())
    };
    let processors = [a, b].map(|one| {
        one.machines.iter().map(|machine| machine.processor.as_str()).collect::<BTreeSet<_>>()
    });
    let words =
        format!("{} was measured from {} and {} from {}", a.label, names(a), b.label, names(b));
    Some(Apart { what: "machines", words, is_doubt: processors[0] != processors[1] })
}

/// `a`, `a and b`, `a and 4 more`.
fn list<T: AsRef<str> + Ord>(names: &BTreeSet<T>) -> String {
    let cut = |name: &T| shortened(name.as_ref(), NAME_MAX);
    let all: Vec<String> = names.iter().map(cut).collect();
    match &all[..] {
        [one, _, _, ..] => format!("{one} and {} more", all.len() - 1),
        few => stdx::list_and(few),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of((lines, machine): Run<'_>) -> RunSubject {
        let target = |line: &&str| {
            let (method, url) = line.split_once(' ').unwrap();
            AttackedTarget { method: method.to_owned(), url: url.to_owned(), requests: 1 }
        };
        let targets: Vec<AttackedTarget> = lines.iter().map(target).collect();
        let machine = machine.map(|(host, processor)| RunMachine {
            host: host.to_owned(),
            processor: processor.to_owned(),
        });
        RunSubject { machine, ..RunSubject::of(&targets, true) }
    }

    /// Targets, and the name and processor of the machine.
    type Run<'a> = (&'a [&'a str], Option<(&'a str, &'a str)>);

    fn check(a: Run<'_>, b: Run<'_>, expect: &[(&str, bool)]) {
        let found = apart(("a", &[&of(a)]), ("b", &[&of(b)]));
        let found: Vec<(&str, bool)> =
            found.iter().map(|one| (one.words.as_str(), one.is_doubt)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn what_is_the_same_or_not_known_is_not_said() {
        check((&["GET http://h/"], None), (&["GET http://h/"], None), &[]);
        check((&["GET http://h/"], Some(("x", "2 cores"))), (&[], None), &[]);
        let one = Some(("x", "2 cores"));
        check((&["GET http://h/"], one), (&["GET http://h/"], one), &[]);
    }

    #[test]
    fn targets_servers_and_machines_are_named() {
        check(
            (&["GET http://me:pw1234@h/a"], None),
            (&["GET http://h/b"], None),
            &[("a requested GET http://me:***@h/a and b GET http://h/b", true)],
        );
        check(
            (&["GET http://h/a"], None),
            (&["POST http://h/a"], None),
            &[("a requested GET http://h/a and b POST http://h/a", true)],
        );
        check(
            (&["GET http://h:1/a", "GET http://h:1/b"], None),
            (&["GET http://h:2/a", "GET http://h:2/c"], None),
            &[("a requested 2 targets and b 2 targets, of which both have 1", false)],
        );
        check(
            (&["GET http://h:1/a"], Some(("x", "2 cores"))),
            (&["GET http://h:2/a"], Some(("y", "4 cores"))),
            &[
                ("a was measured at http://h:1 and b at http://h:2", false),
                ("a was measured from x (2 cores) and b from y (4 cores)", true),
            ],
        );
    }

    #[test]
    fn many_targets_are_compared_by_their_methods() {
        let many = |from: usize| {
            (from..from + 200).map(|n| format!("GET http://h/{n}")).collect::<Vec<_>>()
        };
        let (a, b) = (many(0), many(1000));
        let lines = |all: &'static [String]| all.iter().map(String::as_str).collect::<Vec<_>>();
        let (a, b) = (lines(a.leak()), lines(b.leak()));
        check((&a, None), (&b, None), &[]);
        let words =
            "a requested more than 100 targets and b POST http://h/1, with GET and with POST";
        check((&a, None), (&["POST http://h/1"], None), &[(words, true)]);
    }
}
