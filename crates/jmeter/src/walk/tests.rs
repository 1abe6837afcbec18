//! Walks through small plans, by the names of samplers.

use std::collections::HashMap;
use std::sync::Arc;

use jmx::{Element, MemoryScope, Scope, read_plan};
use stdx::Nanos;

use super::logic::Logic;
use super::walker::{Ground, Next, Walker};
use crate::plan::compile::Program;
use crate::plan::node::Part;

/// A thread without HTTP.
#[derive(Default)]
struct Walk {
    scope: MemoryScope,
    rounds: HashMap<usize, (u64, u64)>,
    locked: Vec<String>,
    transactions: Vec<String>,
    /// What transactions counted.
    counted: u64,
    iterations: u64,
    now: u64,
}

impl Ground for Walk {
    fn text(&mut self, element: &Element, name: &str) -> String {
        crate::plan::property::text(&element.properties, name, &mut self.scope)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.scope.variable(name)
    }
    fn set_variable(&mut self, name: &str, value: String) {
        self.scope.set_variable(name, value);
    }
    fn is_true(&mut self, element: &Element) -> bool {
        self.text(element, "IfController.condition") == "true"
    }
    fn now(&self) -> Nanos {
        Nanos::from_secs(self.now)
    }
    fn below(&mut self, _: usize) -> usize {
        0
    }
    fn begin_round(&mut self, _: &Part) -> bool {
        true
    }
    fn begin_iteration(&mut self) {
        self.iterations += 1;
    }
    fn shared_round(&mut self, controller: usize, runs: &dyn Fn(u64, u64) -> bool) -> bool {
        let counts = self.rounds.entry(controller).or_default();
        counts.1 += 1;
        let now = runs(counts.0, counts.1);
        counts.0 += u64::from(now);
        now
    }
    fn try_lock(&mut self, name: &str) -> bool {
        let free = !self.locked.iter().any(|known| known == name);
        if free {
            self.locked.push(name.to_owned());
        }
        free
    }
    fn unlock(&mut self, name: &str) {
        self.locked.retain(|known| known != name);
    }
    fn begin_transaction(&mut self, controller: usize) {
        self.transactions.push(format!("begin {controller}"));
    }
    fn count_in_transaction(&mut self, _: usize, times: u64) {
        self.counted += times;
    }
    fn end_transaction(&mut self, controller: usize) {
        self.transactions.push(format!("end {controller}"));
    }
}

/// A sampler of a name.
fn sampler(name: &str) -> String {
    format!("<HTTPSamplerProxy testname=\"{name}\"/><hashTree/>")
}

/// A controller with properties and what stands in it.
fn controller(class: &str, properties: &[(&str, &str)], inside: &str) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>"))
        .collect();
    format!("<{class} testname=\"c\">{properties}</{class}><hashTree>{inside}</hashTree>")
}

fn program(loops: i64, inside: &str) -> Arc<Program> {
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree><ThreadGroup testname=\"G\">\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">{loops}</stringProp></elementProp>\
         <stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup>\
         <hashTree>{inside}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    let (file, problems) =
        read_plan(text.as_bytes(), jmx::UnknownScripts::Refused).expect("a plan");
    assert_eq!(problems, []);
    Arc::new(Program::compile(&file, &mut MemoryScope::default(), &|_| None).expect("a program"))
}

/// The samplers of a walk by their names, so many at most.
fn walk(ground: &mut Walk, loops: i64, inside: &str, most: usize) -> String {
    let program = program(loops, inside);
    let mut walker = Walker::new(&program, program.groups[0].root);
    let mut names = String::new();
    for _ in 0..most {
        match walker.next(ground) {
            Next::Sampler(at) => names.push_str(program.samplers[at].part.element.name.written()),
            Next::Empty => return names,
            Next::Pause => names.push('~'),
            Next::Stop => return names + "!",
        }
    }
    names + "…"
}

#[track_caller]
fn check(loops: i64, inside: &str, expect: &str) {
    assert_eq!(walk(&mut Walk::default(), loops, inside, 40), expect);
}

#[test]
fn loops_go_round() {
    let (a, b) = (sampler("a"), sampler("b"));
    check(2, &format!("{a}{b}"), "abab");
    let inner = controller("LoopController", &[("LoopController.loops", "2")], &a);
    check(2, &format!("{inner}{b}"), "aabaab");
    let once = controller(
        "LoopController",
        &[("LoopController.loops", "2"), ("LoopController.continue_forever", "false")],
        &a,
    );
    check(2, &format!("{once}{b}"), "aabb");
    check(1, &controller("LoopController", &[("LoopController.loops", "0")], &a), "");
}

#[test]
fn choices_choose() {
    let (a, b, c) = (sampler("a"), sampler("b"), sampler("c"));
    let abc = format!("{a}{b}{c}");
    check(2, &controller("SwitchController", &[("SwitchController.value", "1")], &abc), "bb");
    check(1, &controller("SwitchController", &[("SwitchController.value", "c")], &abc), "c");
    check(1, &controller("SwitchController", &[("SwitchController.value", "9")], &abc), "a");
    check(1, &controller("SwitchController", &[("SwitchController.value", "x")], &abc), "");
    check(4, &controller("InterleaveControl", &[], &abc), "abca");
    let pair = controller("GenericController", &[], &format!("{a}{b}"));
    check(
        4,
        &controller(
            "InterleaveControl",
            &[("InterleaveControl.style", "0")],
            &format!("{pair}{c}"),
        ),
        "acbc",
    );
    check(
        3,
        &controller(
            "InterleaveControl",
            &[("InterleaveControl.style", "1")],
            &format!("{pair}{c}"),
        ),
        "abcab",
    );
    check(2, &controller("OnceOnlyController", &[], &a), "a");
    check(1, &controller("IfController", &[("IfController.condition", "false")], &a), "");
    check(
        2,
        &controller("IfController", &[("IfController.condition", "true")], &format!("{a}{b}")),
        "abab",
    );
    let half =
        [("ThroughputController.style", "1"), ("ThroughputController.percentThroughput", "50")];
    check(6, &format!("{}{b}", controller("ThroughputController", &half, &a)), "babbabbab");
}

#[test]
fn variables_lead_loops() {
    let mut ground = Walk::default();
    for (name, value) in [("x_1", "p"), ("x_2", "q"), ("w", "false")] {
        ground.scope.set_variable(name, value.to_owned());
    }
    let each = controller(
        "ForeachController",
        &[("ForeachController.inputVal", "x"), ("ForeachController.returnVal", "v")],
        &sampler("a"),
    );
    assert_eq!(walk(&mut ground, 2, &each, 40), "aaaa");
    assert_eq!(ground.scope.variable("v").as_deref(), Some("q"));
    let not =
        controller("WhileController", &[("WhileController.condition", "${w}")], &sampler("a"));
    assert_eq!(walk(&mut ground, 1, &not, 40), "");
}

#[test]
fn loops_without_a_sampler_give_the_turn_back() {
    for (class, name) in [
        ("WhileController", "WhileController.condition"),
        ("LoopController", "LoopController.loops"),
    ] {
        let value = if class == "LoopController" { "-1" } else { "true" };
        check_endless(&controller(class, &[(name, value)], ""));
    }
    check_endless("");
}

#[track_caller]
fn check_endless(inside: &str) {
    let names = walk(&mut Walk::default(), -1, inside, 3);
    assert_eq!(names, "~~~…");
}

#[test]
fn a_place_is_left_for_the_next_round() {
    let (a, b) = (sampler("a"), sampler("b"));
    let inner = controller("LoopController", &[("LoopController.loops", "3")], &format!("{a}{b}"));
    let transaction = controller("TransactionController", &[], &inner);
    for (logic, expect) in [
        (Logic::NextLoop, "aaa"),
        (Logic::BreakLoop, "a"),
        (Logic::NextThreadLoop, "aa"),
        (Logic::Continue, "ababab"),
    ] {
        let program = program(if logic == Logic::NextThreadLoop { 2 } else { 1 }, &transaction);
        let mut walker = Walker::new(&program, program.groups[0].root);
        let mut ground = Walk::default();
        let mut names = String::new();
        while let Next::Sampler(at) = walker.next(&mut ground) {
            let node = &program.samplers[at];
            names.push_str(node.part.element.name.written());
            walker.leave(&node.controllers, logic, &mut ground);
        }
        assert_eq!(names, expect, "{logic:?}");
        let (begun, ended) =
            ground.transactions.iter().partition::<Vec<_>, _>(|one| one.starts_with("begin"));
        assert_eq!(begun.len(), ended.len(), "{logic:?}: {:?}", ground.transactions);
    }
}

#[test]
fn a_transaction_counts_as_jmeter_does() {
    let (a, b) = (sampler("a"), sampler("b"));
    let never = controller("IfController", &[("IfController.condition", "false")], &a);
    let always = controller("IfController", &[("IfController.condition", "true")], &a);
    let twice = controller("LoopController", &[("LoopController.loops", "2")], &a);
    for (inside, expect) in [
        (format!("{a}{b}"), 2),
        (twice.clone(), 2),
        (format!("{twice}{b}"), 4),
        (format!("{b}{never}{always}"), 3),
        (format!("{never}{never}{b}"), 3),
        (format!("{b}{never}{never}"), 1),
        (never, 0),
    ] {
        let mut ground = Walk::default();
        walk(&mut ground, 1, &controller("TransactionController", &[], &inside), 20);
        assert_eq!(ground.counted, expect, "{inside}");
    }
}

#[test]
fn a_transaction_without_children_is_asked_once() {
    let empty = controller("TransactionController", &[], "");
    let mut ground = Walk::default();
    walk(&mut ground, 3, &format!("{}{empty}", sampler("a")), 20);
    let ended = ground.transactions.iter().filter(|one| one.starts_with("end")).count();
    assert_eq!(ended, 1, "{:?}", ground.transactions);
}

#[test]
fn a_section_is_one_threads() {
    let section = controller(
        "CriticalSectionController",
        &[("CriticalSectionController.lockName", "l")],
        &sampler("a"),
    );
    let mut ground = Walk { locked: vec!["l".to_owned()], ..Walk::default() };
    assert_eq!(walk(&mut ground, 1, &section, 2), "~~…");
    let mut ground = Walk::default();
    assert_eq!(walk(&mut ground, 2, &section, 9), "aa");
    assert!(ground.locked.is_empty());
    assert_eq!(ground.iterations, 2);
}
