//! What JMeter 5.6.3 says of the same samples.

use super::{AssertionFailure, Failing, assert_sample};
use crate::element::Element;
use crate::read::read_plan;
use crate::sample::SampleView;
use crate::scope::{MemoryScope, Scope};

fn element(class: &str, properties: &[(&str, &str)]) -> Element {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let mut strings = String::new();
    let mut others = String::new();
    for (name, value) in properties {
        let property = format!("<stringProp name=\"{name}\">{}</stringProp>", escape(value));
        if name.is_empty() { strings.push_str(&property) } else { others.push_str(&property) }
    }
    let plan = format!(
        "<jmeterTestPlan><hashTree><{class} testname=\"x\">{others}<collectionProp name=\"Asserion.test_strings\">{strings}</collectionProp></{class}><hashTree/></hashTree></jmeterTestPlan>"
    );
    read_plan(plan.as_bytes(), crate::UnknownScripts::Refused).expect("a plan").0.elements.remove(0)
}

fn judge(
    class: &str,
    properties: &[(&str, &str)],
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let mut scope = MemoryScope::default();
    scope.set_variable("v", "7".to_owned());
    assert_sample(&element(class, properties), &mut scope, sample)
}

fn message(class: &str, properties: &[(&str, &str)], sample: &SampleView<'_>) -> String {
    judge(class, properties, sample).map_or_else(|| "passed".to_owned(), |failure| failure.message)
}

#[track_caller]
fn response(test: &str, strings: &[&str], expect: &str) {
    let sample = SampleView { text: "Hello World 123", code: "404", ..SampleView::default() };
    let mut properties =
        vec![("Assertion.test_type", test), ("Assertion.test_field", "Assertion.response_data")];
    properties.extend(strings.iter().map(|text| ("", *text)));
    assert_eq!(message("ResponseAssertion", &properties, &sample), expect, "{test} {strings:?}");
}

#[test]
fn responses_are_judged_in_jmeters_words() {
    response("16", &["World"], "passed");
    response("16", &["Hello", "nope"], "Test failed: text expected to contain /nope/");
    response("16", &[], "passed");
    response("2", &["W.rld"], "passed");
    response("2", &["^World"], "Test failed: text expected to contain /^World/");
    response("2", &["(?i)world"], "passed");
    response("1", &["Hello"], "Test failed: text expected to match /Hello/");
    response("1", &["Hello.*"], "passed");
    response("20", &["World"], "Test failed: text expected not to contain /World/");
    response("6", &["W.*d"], "Test failed: text expected not to contain /W.*d/");
    response("5", &[".*"], "Test failed: text expected not to match /.*/");
    response("48", &["zzz", "World"], "passed");
    response(
        "48",
        &["zzz", "yyy"],
        "Test failed: text expected something using /zzz/\tTest failed: text expected something using /yyy/\t",
    );
    response("52", &["Hello", "zzz"], "passed");
    response("8", &["Hello World 123"], "passed");
    response(
        "8",
        &["Hello World 12"],
        "Test failed: text expected to equal /\n\n****** received  : Hello World 12[[[3]]]\n\n****** comparison: Hello World 12[[[ ]]]\n\n/",
    );
    response(
        "8",
        &["Hello Wxrld 123"],
        "Test failed: text expected to equal /\n\n****** received  : Hello W[[[o]]]rld 123\n\n****** comparison: Hello W[[[x]]]rld 123\n\n/",
    );
    response(
        "12",
        &["Hello World 123"],
        "Test failed: text expected not to equal /\n\n****** received  : Hello World 123[[[]]]\n\n****** comparison: Hello World 123[[[]]]\n\n/",
    );
}

#[test]
fn broken_patterns_are_errors() {
    let properties = [("Assertion.test_type", "2"), ("", "(a")];
    let sample = SampleView { url: "http://h/", ..SampleView::default() };
    let failure = judge("ResponseAssertion", &properties, &sample).expect("an error");
    assert_eq!(failure.kind, Failing::Error);
    assert!(failure.message.starts_with("Bad test configuration "), "{}", failure.message);
    assert!(failure.message.ends_with("\nUnmatched parentheses."), "{}", failure.message);
}

#[test]
fn fields_have_names() {
    let sample = SampleView {
        text: "t",
        code: "404",
        message: "m",
        url: "u",
        request_headers: "q",
        request_data: "d",
        response_headers: "h",
        ..SampleView::default()
    };
    for (field, name) in [
        ("Assertion.response_data", "text"),
        ("Assertion.response_code", "code"),
        ("Assertion.response_message", "message"),
        ("Assertion.response_headers", "headers"),
        ("Assertion.request_headers", "request headers"),
        ("Assertion.request_data", "request data"),
        ("Assertion.response_data_as_document", "document"),
        ("Assertion.sample_label", "URL"),
    ] {
        let properties =
            [("Assertion.test_type", "16"), ("Assertion.test_field", field), ("", "zz")];
        let expect = format!("Test failed: {name} expected to contain /zz/");
        assert_eq!(message("ResponseAssertion", &properties, &sample), expect);
        let properties =
            [properties[0], properties[1], properties[2], ("Assertion.custom_message", "closed")];
        assert_eq!(message("ResponseAssertion", &properties, &sample), "closed");
    }
    let variable = [
        ("Assertion.scope", "variable"),
        ("Scope.variable", "v"),
        ("Assertion.test_type", "16"),
        ("", "8"),
    ];
    let expect = "Test failed: variable(v) expected to contain /8/";
    assert_eq!(message("ResponseAssertion", &variable, &sample), expect);
    let empty = SampleView::default();
    let code = [("Assertion.test_type", "8"), ("", "x")];
    assert_eq!(message("ResponseAssertion", &code, &empty), "Response was null");
    assert_eq!(message("ResponseAssertion", &[("Assertion.test_type", "20")], &empty), "passed");
}

#[test]
fn sizes_and_durations_are_judged() {
    let sample = SampleView {
        code: "200",
        message: "OK",
        elapsed_ms: 1_500,
        header_bytes: 93,
        body_bytes: 1_000,
        ..SampleView::default()
    };
    let size = |field: &str, operator: &str, size: &str| {
        let properties = [
            ("Assertion.test_field", field),
            ("SizeAssertion.operator", operator),
            ("SizeAssertion.size", size),
        ];
        message("SizeAssertion", &properties, &sample)
    };
    let wrong = |words: &str| format!("The result was the wrong size: It was {words} bytes.");
    let data = "SizeAssertion.response_data";
    for (operator, words) in [
        ("2", "1,000 bytes, but should have not been equal to 1,000"),
        ("3", "1,000 bytes, but should have been greater than 1,000"),
        ("4", "1,000 bytes, but should have been less than 1,000"),
    ] {
        assert_eq!(size(data, operator, "1000"), wrong(words));
    }
    for operator in ["1", "5", "6"] {
        assert_eq!(size(data, operator, "1000"), "passed");
    }
    let network = wrong("1,093 bytes, but should have been equal to 100");
    assert_eq!(size("SizeAssertion.response_network_size", "1", "100"), network);
    assert_eq!(size("SizeAssertion.response_code", "1", "3"), "passed");
    assert_eq!(size("SizeAssertion.response_message", "1", "2"), "passed");
    let headers = wrong("93 bytes, but should have been less than 10");
    assert_eq!(size("SizeAssertion.response_headers", "4", "10"), headers);
    let duration =
        |allowed| message("DurationAssertion", &[("DurationAssertion.duration", allowed)], &sample);
    assert_eq!(duration("1500"), "passed");
    assert_eq!(duration("0"), "passed");
    assert_eq!(
        duration("200"),
        "The operation lasted too long: It took 1,500 milliseconds, but should not have lasted longer than 200 milliseconds."
    );
}

#[test]
fn digests_and_xml_are_judged() {
    let sample = SampleView { body: b"ok", text: "ok", ..SampleView::default() };
    let md5 = |expected| message("MD5HexAssertion", &[("MD5HexAssertion.size", expected)], &sample);
    assert_eq!(md5("444BCB3A3FCF8389296C49467F27E1D6"), "passed");
    assert_eq!(
        md5("00"),
        "Error asserting MD5 sum : got 444bcb3a3fcf8389296c49467f27e1d6 but should have been 00"
    );
    let xml = |text| message("XMLAssertion", &[], &SampleView { text, ..SampleView::default() });
    assert_eq!(xml("<a><b/></a>"), "passed");
    assert_eq!(xml("zz"), "Content is not allowed in prolog.");
    assert_eq!(xml(""), "Response was null");
    assert!(xml("<a><b></a>").len() > 10);
    assert!(xml("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>").starts_with("DOCTYPE is disallowed"));
    assert_eq!(xml(&"<a>".repeat(100_000)), "elements stand too deep in one another");
}

const USERS: &str =
    r#"{"total":3,"next":null,"users":[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]}"#;

/// An assertion of JSON: the path, the value, and letters for what else is set.
fn json(class: &str, path: &str, value: &str, flags: &str) -> String {
    let is = |flag| if flags.contains(flag) { "true" } else { "false" };
    let properties = [
        (if class.starts_with("JSON") { "JSON_PATH" } else { "JMES_PATH" }, path),
        ("EXPECTED_VALUE", value),
        ("JSONVALIDATION", is('c')),
        ("ISREGEX", is('r')),
        ("EXPECT_NULL", is('n')),
        ("INVERT", is('i')),
    ];
    message(class, &properties, &SampleView { text: USERS, ..SampleView::default() })
}

#[test]
fn json_is_judged() {
    for (path, value, flags, expect) in [
        ("$.total", "", "", "passed"),
        ("$.zzz", "", "", "No results for path: $['zzz']"),
        ("$.a.b", "", "", "Missing property in path $['a']"),
        ("$.zzz", "", "i", "passed"),
        ("$.total", "", "i", "Failed that JSONPath not exists: $.total"),
        ("$.total", "3", "c", "passed"),
        ("$.total", "[0-9]", "cr", "passed"),
        ("$.total", "4", "c", "Value in json path '$.total' expected to be '4', but found '3'"),
        (
            "$.total",
            "4",
            "cr",
            "Value in json path '$.total' expected to match regexp '4', but it did not match: '3'",
        ),
        ("$.next", "", "cn", "passed"),
        ("$.total", "", "cn", "Value in json path '$.total' expected to be null, but found '3'"),
        ("$..name", "Bob", "c", "passed"),
        ("$.total", "3", "ci", "Failed that JSONPath $.total not matches 3"),
    ] {
        assert_eq!(json("JSONPathAssertion", path, value, flags), expect, "{path} {value} {flags}");
    }
    assert!(json("JSONPathAssertion", "$..zzz", "", "").contains("is indefinite"));
}

#[test]
fn jmespath_is_judged() {
    for (path, value, flags, expect) in [
        ("total", "", "", "passed"),
        ("zzz", "", "", "JMESPATH zzz expected to exist"),
        ("total", "", "i", "JMESPATH total expected not to exist"),
        ("total", "3", "c", "passed"),
        ("users[0].name", "A.*", "cr", "passed"),
        ("total", "9", "c", "Value expected to be equal to 9"),
        ("next", "", "cn", "passed"),
        ("total", "3", "ci", "Value expected not to be equal to 3"),
    ] {
        assert_eq!(json("JMESPathAssertion", path, value, flags), expect, "{path} {value} {flags}");
    }
}

#[test]
fn xpath_is_judged() {
    let text = "<a xmlns:x=\"urn:x\"><b>1</b><x:c/></a>";
    let sample = SampleView { text, ..SampleView::default() };
    for (class, query, negate, expect) in [
        ("XPathAssertion", "//b", "false", "passed"),
        ("XPathAssertion", "//zzz", "false", "No Nodes Matched //zzz"),
        ("XPathAssertion", "//zzz", "true", "passed"),
        (
            "XPathAssertion",
            "//b",
            "true",
            "Specified XPath was found... Turn off negate if this is not desired",
        ),
        ("XPathAssertion", "count(//b)=2", "false", "No Nodes Matched for count(//b)=2"),
        ("XPathAssertion", "count(//b)=1", "true", "Nodes Matched for count(//b)=1"),
        ("XPathAssertion", "count(//b)", "false", "Cannot understand: count(//b)"),
        ("XPath2Assertion", "//b", "false", "passed"),
        ("XPath2Assertion", "//n:c", "false", "passed"),
        ("XPath2Assertion", "//zzz", "false", "No Nodes Matched for //zzz"),
        ("XPath2Assertion", "//b", "true", "Nodes Matched for //b"),
    ] {
        let properties =
            [("XPath.xpath", query), ("XPath.negate", negate), ("XPath.namespaces", "n=urn:x")];
        assert_eq!(message(class, &properties, &sample), expect, "{class} {query} {negate}");
    }
    let broken = SampleView { text: "zz", ..SampleView::default() };
    assert_eq!(
        message("XPathAssertion", &[("XPath.xpath", "//b")], &broken),
        "SAXException: Content is not allowed in prolog."
    );
    assert_eq!(message("XPathAssertion", &[], &SampleView::default()), "Response was null");
}
