//! `lint`: what the rules make of what was seen in the files of a script and of what its init code said.

use crate::finding::{Finding, Rule};
use crate::place::{Lines, Place};
use crate::sight::{Sight, look};

/// A file of a script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptFile<'a> {
    /// What it is called in findings.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// What only the init code of a script says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Options and fields that k6 does not know, with the nearest name that it knows.
    pub unknown_options: Vec<(String, Option<String>)>,
    /// Metrics that thresholds name and nothing makes.
    pub unmade_metrics: Vec<String>,
    /// The functions that iterations call: those of scenarios, `setup` and `teardown`.
    pub functions: Vec<String>,
    /// A scenario keeps a number of users busy for a time.
    pub has_closed_loop: bool,
    /// Iterations begin at a rate, in all scenarios.
    pub is_at_rate: bool,
    /// `discardResponseBodies`.
    pub discards_bodies: bool,
}

/// All that is wrong with a script: its own file first, then those that it imports. In the order of files and places.
#[must_use]
pub fn lint(files: &[ScriptFile<'_>], facts: &Facts) -> Vec<Finding> {
    let seen: Vec<Observation<'_>> = files.iter().map(|file| Observation::of(*file)).collect();
    let mut judge = Judge { seen: &seen, findings: Vec::new() };
    judge.facts(facts);
    judge.each_file(facts);
    judge.whole(facts);
    let mut findings = judge.findings;
    let number = |finding: &Finding| files.iter().position(|file| file.name == finding.file);
    findings.sort_by_key(|finding| (number(finding), finding.place));
    findings
}

/// A file, and what is in it.
struct Observation<'f> {
    file: ScriptFile<'f>,
    sight: Sight,
    lines: Lines,
}

impl<'f> Observation<'f> {
    fn of(file: ScriptFile<'f>) -> Self {
        Self { file, sight: look(file.name, file.text), lines: Lines::of(file.text) }
    }
}

struct Judge<'s, 'f> {
    seen: &'s [Observation<'f>],
    findings: Vec<Finding>,
}

impl Judge<'_, '_> {
    fn add(&mut self, rule: Rule, seen: &Observation<'_>, offset: u32, message: String) {
        let place = seen.lines.place(offset);
        self.findings.push(Finding { rule, file: seen.file.name.to_owned(), place, message });
    }

    /// What the init code found wrong: where such a key stands in the files, or else where the script begins.
    fn facts(&mut self, facts: &Facts) {
        for (name, nearest) in &facts.unknown_options {
            let meant = nearest.as_ref().map(|meant| format!(" (did you mean {meant}?)"));
            let message = format!("k6 has no option \"{name}\"{}", meant.unwrap_or_default());
            self.at_key(Rule::UnknownOption, name, message);
        }
        for metric in &facts.unmade_metrics {
            let message = format!("the threshold is on \"{metric}\", which nothing makes");
            self.at_key(Rule::UnmadeMetric, metric, message);
        }
    }

    fn at_key(&mut self, rule: Rule, key: &str, message: String) {
        let named = |Observation { file, sight, lines }: &Observation<'_>| {
            let at = |(name, places): (&String, &Vec<u32>)| {
                // A threshold's key may have a selector: `errors{page:cart}`.
                let is_it = name == key || name.split('{').next() == Some(key);
                is_it.then(|| places.first().copied()).flatten()
            };
            sight.keys.iter().find_map(at).map(|offset| (file.name.to_owned(), lines.place(offset)))
        };
        let found = self.seen.iter().find_map(named);
        let first = self.seen.first().map(|seen| (seen.file.name.to_owned(), Place::START));
        let Some((file, place)) = found.or(first) else { return };
        self.findings.push(Finding { rule, file, place, message });
    }

    fn each_file(&mut self, facts: &Facts) {
        for seen in self.seen {
            let sight = &seen.sight;
            for (module, place) in &sight.imports {
                if let Some(now) = now_called(module) {
                    let message = format!("\"{module}\" is {now} today");
                    self.add(Rule::OldModule, seen, *place, message);
                }
            }
            for (rule, places, message) in [
                (
                    Rule::CheckAssigns,
                    &sight.assigning,
                    "the condition assigns, and so always holds or never does",
                ),
                (
                    Rule::CheckGivesNothing,
                    &sight.giving_nothing,
                    "the condition's function gives nothing back, so the check always fails",
                ),
                (
                    Rule::UnreachedCheck,
                    &sight.unreached,
                    "the function has ended before this check",
                ),
                (
                    Rule::VaryingName,
                    &sight.varying,
                    "the URL varies and is the name of the request's metrics: each one is a series of its own",
                ),
            ] {
                places.iter().for_each(|at| self.add(rule, seen, *at, message.to_owned()));
            }
            let opens = sight.opens.iter().filter(|(of, _)| facts.functions.contains(of));
            for (function, place) in opens {
                let message =
                    format!("files are opened in init code alone, and {function}() runs later");
                self.add(Rule::OpenInIteration, seen, *place, message);
            }
        }
    }

    /// What only all files together show.
    fn whole(&mut self, facts: &Facts) {
        let Some((file, request)) = first(self.seen, |sight| &sight.requests) else { return };
        let sleep = first(self.seen, |sight| &sight.sleeps);
        if facts.has_closed_loop && sleep.is_none() {
            let message = "users send their next request as soon as the last one is answered, and none pauses".to_owned();
            self.add(Rule::NoSleep, file, request, message);
        }
        if let (true, Some((file, place))) = (facts.is_at_rate, sleep) {
            let message = "iterations begin at a rate, and a pause only needs more VUs".to_owned();
            self.add(Rule::SleepAtRate, file, place, message);
        }
        if !facts.discards_bodies && !self.seen.iter().any(|seen| seen.sight.reads_bodies) {
            let message = "the bodies of responses are kept, and nothing looks at one".to_owned();
            self.add(Rule::UnreadBodies, file, request, message);
        }
    }
}

/// The first place of a kind in the files.
fn first<'s, 'f>(
    seen: &'s [Observation<'f>],
    of: impl Fn(&Sight) -> &Vec<u32>,
) -> Option<(&'s Observation<'f>, u32)> {
    seen.iter().find_map(|seen| of(&seen.sight).first().map(|offset| (seen, *offset)))
}

/// What a module of k6 is called today; `None` where its name has not changed.
fn now_called(module: &str) -> Option<&'static str> {
    Some(match module {
        "k6/experimental/websockets" | "k6/ws" => "k6/websockets",
        "k6/experimental/webcrypto" => "the global `crypto`",
        "k6/experimental/timers" => "k6/timers",
        "k6/experimental/grpc" => "k6/net/grpc",
        "k6/experimental/browser" => "k6/browser",
        "k6/experimental/tracing" => "jslib's http-instrumentation-tempo",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "import http from 'k6/http'; import { check, sleep } from 'k6'; const BASE = __ENV.BASE;\n";

    /// The rules that a script breaks, with the line of each; the script has a line before it.
    fn rules(body: &str, facts: &Facts) -> Vec<(&'static str, u32)> {
        let text = format!("{HEAD}{body}");
        let found = lint(&[ScriptFile { name: "s.ts", text: &text }], facts);
        found.iter().map(|finding| (finding.rule.name(), finding.place.line)).collect()
    }

    fn of_default(body: &str) -> Vec<(&'static str, u32)> {
        let facts = Facts {
            functions: vec!["default".to_owned()],
            discards_bodies: true,
            ..Facts::default()
        };
        rules(body, &facts)
    }

    #[test]
    fn conditions_that_cannot_be_true_or_false() {
        let body = "export default function () {
            const r = http.get(BASE + '/a');
            check(r, { a: (r) => r.status = 200, b: (r) => { r.status === 200 }, c: function (r) { return r.ok },
                d: (r) => { if (r) { return true } throw new Error('x') }, e: r.status === 200, f: (r) => { [1].map(x => { return x }) } });
            return;
            check(r, { g: () => true });
            function later() { check(r, { h: () => true }) }
        }";
        let expect = [
            ("check-assigns", 4),
            ("check-gives-nothing", 4),
            ("check-gives-nothing", 5),
            ("unreached-check", 7),
        ];
        assert_eq!(of_default(body), expect);
    }

    #[test]
    fn urls_that_make_a_series_each() {
        for (url, varies) in [
            ("`${BASE}/items/${id}`", true),
            ("BASE + '/items/' + id", true),
            ("`http://h/${__ENV.PATH}/x`", false),
            ("`${base}/items`", false),
            ("`${BASE}/${BASE}`", false),
            ("base + '/items'", false),
            ("'/items'", false),
            ("http.url`${BASE}/items/${id}`", false),
            ("`${BASE}/items/${id}`, { tags: { name: 'item' } }", false),
            ("`${BASE}/items/${id}`, { headers: { a: 'b' } }", true),
            ("`${BASE}/items/${id}`, params", false),
            ("`${BASE}/items/${id}`, { ...params }", false),
        ] {
            let body = format!("export default (base, id, params) => {{ http.get({url}); }}");
            let expect = if varies { vec![("varying-name", 2)] } else { Vec::new() };
            assert_eq!(of_default(&body), expect, "{url}");
        }
        let post =
            "export default (id) => { http.post(`${BASE}/${id}`, null, { tags: { name: 'x' } }); }";
        assert_eq!(of_default(post), []);
    }

    #[test]
    fn files_are_opened_in_init_code() {
        let body = "const a = open('a'); const b = new SharedArray('b', () => open('b'));
            function helper() { return open('c') }
            export default function () { open('d') }
            export const unused = () => open('e');";
        assert_eq!(of_default(body), [("open-in-iteration", 4)]);
    }

    #[test]
    fn what_all_files_show_together() {
        let get = "export default () => { http.get(BASE) }";
        let closed = Facts { has_closed_loop: true, ..Facts::default() };
        assert_eq!(rules(get, &closed), [("no-sleep", 2), ("unread-bodies", 2)]);
        let rate = Facts { is_at_rate: true, ..Facts::default() };
        let reads = "export default () => { const { body } = http.get(BASE); sleep(1) }";
        assert_eq!(rules(reads, &closed), []);
        assert_eq!(rules(reads, &rate), [("sleep-at-rate", 2)]);
        let main = format!("{HEAD}{get}");
        let files = [
            ScriptFile { name: "main.js", text: &main },
            ScriptFile {
                name: "lib.js",
                text: "import ws from 'k6/ws'; export const f = (r) => { r.json(); sleep(1) }",
            },
        ];
        let found = lint(&files, &closed);
        let names: Vec<_> = found.iter().map(|f| (f.rule.name(), f.file.as_str())).collect();
        assert_eq!(names, [("old-module", "lib.js")]);
    }

    #[test]
    fn what_init_code_found_has_its_place() {
        let facts = Facts {
            unknown_options: vec![
                ("vuss".to_owned(), Some("vus".to_owned())),
                ("nowhere".to_owned(), None),
            ],
            unmade_metrics: vec!["errors".to_owned()],
            discards_bodies: true,
            ..Facts::default()
        };
        let body = "export const options = {
            vuss: 3,
            thresholds: { 'errors{page:a}': ['count<1'] },
        };";
        let expect = [("unknown-option", 1), ("unknown-option", 3), ("unmade-metric", 4)];
        assert_eq!(rules(body, &facts), expect);
    }

    #[test]
    fn a_strange_text_is_no_panic() {
        for text in ["", "export default function (", "\u{feff}check(", "check(r, { a: ((((", "\0"]
        {
            assert_eq!(lint(&[ScriptFile { name: "x", text }], &Facts::default()), []);
        }
        let deep = format!("check(1, {}1{})", "(".repeat(400), ")".repeat(400));
        assert_eq!(lint(&[ScriptFile { name: "x.js", text: &deep }], &Facts::default()), []);
    }
}
