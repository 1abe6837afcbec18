//! Plans as scripts: what stands in them, and that they are JavaScript.

use jmx::{UnknownScripts, read_plan};

use oxc::allocator::Allocator;
use oxc::parser::Parser;
use oxc::span::SourceType;

use super::{PlanScript, write_plan};

/// The script of a thread group with these elements in it.
#[track_caller]
fn script(elements: &str) -> PlanScript {
    let plan = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="Plan"/><hashTree>
        <ThreadGroup testname="Users"><intProp name="ThreadGroup.num_threads">10</intProp><intProp name="ThreadGroup.ramp_time">20</intProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">5</stringProp></elementProp>
        </ThreadGroup><hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    let (file, problems) = read_plan(plan.as_bytes(), UnknownScripts::Refused).expect("a plan");
    assert!(problems.is_empty(), "{problems:?}");
    let script = write_plan("plan.jmx", &file, "");
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &script.text, SourceType::mjs()).parse();
    let wrong = parsed.diagnostics.errors().next();
    assert!(wrong.is_none(), "{wrong:?}\n{}", script.text);
    script
}

#[track_caller]
fn check(elements: &str, lines: &[&str]) {
    let PlanScript { text, .. } = script(elements);
    for line in lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

const GET: &str = r#"<HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">h</stringProp><stringProp name="HTTPSampler.path">/${id}</stringProp><boolProp name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy>"#;

#[test]
fn the_load_model_is_kept() {
    check(
        &format!("{GET}<hashTree/>"),
        &[
            "users: { exec: 'users', executor: 'per-vu-iterations', vus: 10, iterations: 5, maxDuration: '86400s' }",
            "rampUp(20, 10);",
            "res = http.get(`http://h/${vars.id}`, { tags: { name: 'home' } });",
        ],
    );
}

#[test]
fn what_stands_beside_and_below_a_request_applies_to_it() {
    let below = r#"<RegexExtractor testname="x"><stringProp name="RegexExtractor.refname">id</stringProp><stringProp name="RegexExtractor.regex">id=(\d+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp><stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>
        <ResponseAssertion testname="is fine"><collectionProp name="Asserion.test_strings"><stringProp name="1">ok</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">20</intProp></ResponseAssertion><hashTree/>"#;
    let beside = r#"<UniformRandomTimer testname="t"><stringProp name="ConstantTimer.delay">100</stringProp><stringProp name="RandomTimer.range">50</stringProp></UniformRandomTimer><hashTree/>"#;
    check(
        &format!("{beside}{GET}<hashTree>{below}</hashTree>"),
        &[
            "sleep((100 + Math.random() * 50) / 1000);",
            r"pick('id', regexValues(res.body, 'id=(\\d+)', '$1$'), 1);",
            "'is fine': (r) => !String(r.body).includes('ok'),",
        ],
    );
}

#[test]
fn controllers_are_blocks() {
    let with = |open: &str| format!("{open}<hashTree>{GET}<hashTree/></hashTree>");
    let cases = [
        (
            r#"<LoopController testname="l"><stringProp name="LoopController.loops">3</stringProp></LoopController>"#,
            "for (let n1 = 0; n1 < 3; n1 += 1) {",
        ),
        (
            r#"<IfController testname="i"><stringProp name="IfController.condition">${__jexl3("${a}" == "b")}</stringProp><boolProp name="IfController.useExpression">true</boolProp></IfController>"#,
            "if (String(vars.a) == 'b') {",
        ),
        (r#"<TransactionController testname="buy"/>"#, "group('buy', () => {"),
        (r#"<OnceOnlyController testname="o"/>"#, "if (exec.vu.iterationInScenario === 0) {"),
        (
            r#"<ForeachController testname="f"><stringProp name="ForeachController.inputVal">in</stringProp><stringProp name="ForeachController.returnVal">out</stringProp></ForeachController>"#,
            "vars.out = vars[`in_${n1}`];",
        ),
        (r#"<RandomOrderController testname="r"/>"#, "]).forEach((step) => step());"),
        (r#"<InterleaveControl testname="r"/>"#, "switch (exec.vu.iterationInScenario % 1) {"),
    ];
    for (open, line) in cases {
        check(&with(open), &[line]);
    }
}

#[test]
fn an_argument_of_a_query_goes_out_as_it_is_written() {
    let with = |domain: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="q"><stringProp name="HTTPSampler.domain">{domain}</stringProp><stringProp name="HTTPSampler.path">/</stringProp>
            <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.name">a</stringProp><stringProp name="Argument.value">\`$</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    check(&with("h"), &[r"http.get('http://h/?a=\\`$'"]);
    check(&with("${h}"), &[r"http.get(`http://${vars.h}/?a=\\\`"]);
}

#[test]
fn a_loop_without_a_translated_condition_is_left_out() {
    let open = r#"<WhileController testname="w"><stringProp name="WhileController.condition">${__groovy(foo())}</stringProp></WhileController>"#;
    let PlanScript { text, notes } =
        script(&format!("{open}<hashTree>{GET}<hashTree/></hashTree>"));
    assert!(text.contains("while (false) {"), "{text}");
    assert!(notes[0].text.contains("the loop is left out: ${__groovy(foo())}"), "{notes:?}");
}

#[test]
fn modules_that_double_with_every_level_end() {
    let module = |name: String| {
        format!(
            r#"<ModuleController testname="m"><collectionProp name="ModuleController.node_path"><stringProp name="1">Test Plan</stringProp><stringProp name="2">Plan</stringProp><stringProp name="3">Users</stringProp><stringProp name="4">{name}</stringProp></collectionProp></ModuleController><hashTree/>"#
        )
    };
    let fragment = |at: usize| {
        let two = module(format!("f{}", at + 1)).repeat(2);
        format!(
            r#"<GenericController testname="f{at}"/><hashTree>{two}{GET}<hashTree/></hashTree>"#
        )
    };
    let doubling: String = (0..30).map(fragment).collect();
    let PlanScript { notes, text } = script(&doubling);
    assert!(notes.iter().any(|note| note.text.contains("left out: modules")), "{notes:?}");
    assert!(text.len() < 20_000_000);
}

#[test]
fn what_has_no_equal_is_a_comment_and_a_note() {
    let xpath = r#"<XPathExtractor testname="by path"/><hashTree/>"#;
    let PlanScript { text, notes } = script(&format!("{GET}<hashTree>{xpath}</hashTree>"));
    assert!(text.contains("// by path: XPath has no equal in k6"), "{text}");
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].path, "Plan > Users > home > by path");
}

#[test]
fn names_of_strangers_end_nothing() {
    let evil = r#"<GenericController testname="a&#10;alert(1)"/><hashTree/><TransactionController testname="`${1}'&quot;*/"/><hashTree/>"#;
    check(evil, &["// a alert(1)"]);
}
