//! What JMeter 5.6.3 sets of the same samples.

use crate::element::Element;
use crate::read::read_plan;
use crate::sample::SampleView;
use crate::scope::{MemoryScope, Scope};

/// An element of a class with properties.
fn element(class: &str, properties: &[(&str, &str)]) -> Element {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{name}\">{}</stringProp>", escape(value)))
        .collect();
    let plan = format!(
        "<jmeterTestPlan><hashTree><{class} testname=\"x\">{properties}</{class}><hashTree/></hashTree></jmeterTestPlan>"
    );
    let (mut plan, problems) =
        read_plan(plan.as_bytes(), crate::UnknownScripts::Refused).expect("a plan");
    assert!(problems.is_empty(), "{problems:?}");
    plan.elements.remove(0)
}

const W: &str = "id=7; id=88; id=999; name=\"Tom\"";

/// The variables that an extractor leaves, sorted; `before` are there first.
#[track_caller]
fn run(
    class: &str,
    properties: &[(&str, &str)],
    sample: &SampleView<'_>,
    before: &[(&str, &str)],
) -> Vec<(String, String)> {
    let mut scope = MemoryScope::default();
    before.iter().for_each(|(name, value)| scope.set_variable(name, (*value).to_owned()));
    super::extract(&element(class, properties), &mut scope, sample).expect("extracted");
    let mut variables: Vec<_> = scope.variables.into_iter().collect();
    variables.sort();
    variables
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    expect.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn regex(regex: &str, template: &str, number: &str, default: &str) -> Vec<(String, String)> {
    let properties = [
        ("RegexExtractor.refname", "x"),
        ("RegexExtractor.regex", regex),
        ("RegexExtractor.template", template),
        ("RegexExtractor.match_number", number),
        ("RegexExtractor.default", default),
    ];
    let sample = SampleView { text: W, ..SampleView::default() };
    run("RegexExtractor", &properties, &sample, &[("x", "before")])
}

#[test]
fn regex_takes_one_or_all() {
    assert_eq!(
        regex("id=(\\d+)", "$1$", "2", "D"),
        pairs(&[("x", "88"), ("x_g", "1"), ("x_g0", "id=88"), ("x_g1", "88")])
    );
    assert_eq!(regex("id=(\\d+)", "$1$", "9", "D"), pairs(&[("x", "D")]));
    assert_eq!(regex("zzz", "$1$", "1", ""), pairs(&[("x", "before")]));
    assert_eq!(
        regex("id=(\\d)(\\d*)", "$1$/$2$", "-1", ""),
        pairs(&[
            ("x", "before"),
            ("x_1", "7/"),
            ("x_1_g", "2"),
            ("x_1_g0", "id=7"),
            ("x_1_g1", "7"),
            ("x_1_g2", ""),
            ("x_2", "8/8"),
            ("x_2_g", "2"),
            ("x_2_g0", "id=88"),
            ("x_2_g1", "8"),
            ("x_2_g2", "8"),
            ("x_3", "9/99"),
            ("x_3_g", "2"),
            ("x_3_g0", "id=999"),
            ("x_3_g1", "9"),
            ("x_3_g2", "99"),
            ("x_matchNr", "3"),
        ])
    );
    // Seen of template forms: an unknown group is null, other dollars stay, and an empty template is empty.
    for (template, expect) in [("$1$", "88"), ("$3$", "null"), ("$x$1$", "$x88"), ("", "")] {
        let variables = regex("id=(\\d+)", template, "2", "D");
        assert_eq!(variables[0], ("x".to_owned(), expect.to_owned()), "{template}");
    }
    assert_eq!(regex("id=(\\d+", "$1$", "1", "D"), pairs(&[("x", "D")]));
}

#[test]
fn regex_forgets_what_it_found_before() {
    let properties = [
        ("RegexExtractor.refname", "x"),
        ("RegexExtractor.regex", "id=(7)"),
        ("RegexExtractor.template", "$1$"),
        ("RegexExtractor.match_number", "-1"),
    ];
    let sample = SampleView { text: W, ..SampleView::default() };
    let before = [("x_matchNr", "3"), ("x_2", "a"), ("x_2_g", "0"), ("x_2_g0", "b"), ("x_3", "c")];
    assert_eq!(
        run("RegexExtractor", &properties, &sample, &before),
        pairs(&[
            ("x_1", "7"),
            ("x_1_g", "1"),
            ("x_1_g0", "id=7"),
            ("x_1_g1", "7"),
            ("x_matchNr", "1")
        ])
    );
}

#[test]
fn fields_and_children_are_looked_at() {
    let children = [
        SampleView { text: "moved", code: "302", ..SampleView::default() },
        SampleView { text: "ok", code: "200", ..SampleView::default() },
    ];
    let sample = SampleView {
        text: "ok &amp; fine",
        code: "200",
        message: "OK",
        url: "http://h/w",
        request_headers: "A: 1",
        response_headers: "HTTP/1.1 200 OK\nX-T: abc-def\n",
        children: &children,
        ..SampleView::default()
    };
    let all = |field: &str, scope: &str| {
        let properties = [
            ("RegexExtractor.refname", "x"),
            ("RegexExtractor.regex", "(.+)"),
            ("RegexExtractor.template", "$1$"),
            ("RegexExtractor.match_number", "-1"),
            ("RegexExtractor.useHeaders", field),
            ("Sample.scope", scope),
            ("Scope.variable", "v"),
        ];
        let variables = run("RegexExtractor", &properties, &sample, &[("v", "var")]);
        let values = variables.into_iter().filter(|(name, _)| {
            name.strip_prefix("x_").is_some_and(|rest| rest.parse::<u32>().is_ok())
        });
        values.map(|(_, value)| value).collect::<Vec<_>>().join("|")
    };
    for (field, scope, expect) in [
        ("false", "", "ok &amp; fine"),
        ("unescaped", "", "ok & fine"),
        ("as_document", "", "ok &amp; fine"),
        ("true", "", "HTTP/1.1 200 OK|X-T: abc-def"),
        ("request_headers", "", "A: 1"),
        ("URL", "", "http://h/w"),
        ("code", "", "200"),
        ("message", "", "OK"),
        ("code", "children", "302|200"),
        ("code", "all", "200|302|200"),
        ("false", "variable", "var"),
    ] {
        assert_eq!(all(field, scope), expect, "{field} {scope}");
    }
}

#[test]
fn boundaries_enclose() {
    let check = |left: &str, right: &str, number: &str, expect: &[(&str, &str)]| {
        let properties = [
            ("BoundaryExtractor.refname", "x"),
            ("BoundaryExtractor.lboundary", left),
            ("BoundaryExtractor.rboundary", right),
            ("BoundaryExtractor.match_number", number),
            ("BoundaryExtractor.default", "D"),
        ];
        let sample = SampleView { text: W, ..SampleView::default() };
        assert_eq!(run("BoundaryExtractor", &properties, &sample, &[]), pairs(expect), "{left}");
    };
    check("id=", ";", "2", &[("x", "88")]);
    let all = [("x", "D"), ("x_1", "7"), ("x_2", "88"), ("x_3", "999"), ("x_matchNr", "3")];
    check("id=", ";", "-1", &all);
    check("zz", ";", "1", &[("x", "D")]);
    check("id=", ";", "9", &[("x", "D")]);
    check("", ";", "1", &[("x", "id=7")]);
    check("name=", "", "1", &[("x", "\"Tom\"")]);
    check("\"", "\"", "0", &[("x", "Tom")]);
    let nameless = element("BoundaryExtractor", &[]);
    let error = super::extract(&nameless, &mut MemoryScope::default(), &SampleView::default());
    assert!(error.expect_err("refused").to_string().ends_with("Boundary Extractor:x"));
}

const USERS: &str = r#"{"total":3,"next":null,"ratio":10.0,"big":1e20,"users":[
  {"id":1,"name":"Ann","tags":["a","b"]},{"id":2,"name":"Bob","tags":[]},{"id":3,"name":"Cid","tags":["a/b"]}]}"#;

fn json(path: &str, number: &str, default: &str) -> Vec<(String, String)> {
    let properties = [
        ("JSONPostProcessor.referenceNames", "x"),
        ("JSONPostProcessor.jsonPathExprs", path),
        ("JSONPostProcessor.match_numbers", number),
        ("JSONPostProcessor.defaultValues", default),
        ("JSONPostProcessor.compute_concat", "true"),
    ];
    let sample = SampleView { text: USERS, ..SampleView::default() };
    run("JSONPostProcessor", &properties, &sample, &[("x_matchNr", "1"), ("x_1", "old")])
}

#[test]
fn json_paths_set_variables() {
    for (path, number, expect) in [
        ("$.total", "1", &[("x", "3"), ("x_matchNr", "1")][..]),
        ("total", "", &[("x", "3")]),
        ("$.users[1].name", "1", &[("x", "Bob"), ("x_matchNr", "1")]),
        ("$..name", "2", &[("x", "Bob"), ("x_matchNr", "3")]),
        ("$..name", "7", &[("x", "D"), ("x_matchNr", "3")]),
        ("$.zzz", "1", &[("x", "D"), ("x_matchNr", "0")]),
        ("$.next", "1", &[("x", "D"), ("x_matchNr", "1")]),
        ("$.ratio", "1", &[("x", "10.0"), ("x_matchNr", "1")]),
        ("$.big", "1", &[("x", "1.0E20"), ("x_matchNr", "1")]),
        ("$.users[2].tags", "1", &[("x", "[\"a\\/b\"]"), ("x_matchNr", "1")]),
        ("$.total[", "1", &[("x", "D")]),
        (
            "$.users[*].id",
            "-1",
            &[("x_1", "1"), ("x_2", "2"), ("x_3", "3"), ("x_ALL", "1,2,3"), ("x_matchNr", "3")],
        ),
        ("$.total", "-1", &[("x_1", "3"), ("x_ALL", "3"), ("x_matchNr", "1")]),
        ("$.users[?(@.id==9)]", "-1", &[("x", "D"), ("x_ALL", ""), ("x_matchNr", "0")]),
    ] {
        assert_eq!(json(path, number, "D"), pairs(expect), "{path} {number}");
    }
    assert_eq!(json("$.zzz", "1", ""), pairs(&[("x", ""), ("x_matchNr", "0")]));
}

#[test]
fn json_lists_must_be_of_one_length() {
    let extract = |names: &str, paths: &str, defaults: &str, numbers: &str, text: &str| {
        let properties = [
            ("JSONPostProcessor.referenceNames", names),
            ("JSONPostProcessor.jsonPathExprs", paths),
            ("JSONPostProcessor.match_numbers", numbers),
            ("JSONPostProcessor.defaultValues", defaults),
        ];
        let mut scope = MemoryScope::default();
        let sample = SampleView { text, ..SampleView::default() };
        super::extract(&element("JSONPostProcessor", &properties), &mut scope, &sample)?;
        Ok::<_, super::ExtractError>((scope.variable("a"), scope.variable("b")))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(extract("a;b", "$.total;$..id", "1;2", "1;2", USERS), Ok((some("3"), some("2"))));
    assert_eq!(extract("a;b", "$.x;$.y", "D;E", "", "not json"), Ok((some("D"), some("E"))));
    assert_eq!(extract("a;b", "$.x;$.y", "D;E", "", "  "), Ok((some("D"), some("E"))));
    assert!(extract("a;b", "$.x;$.y", "D", "", USERS).is_err());
    assert!(extract("a;b", "$.x;$.y", "", "", USERS).is_err());
    assert!(extract("a", "$.x", "D", "1;2", USERS).is_err());
    assert!(extract("a", "$.x", "D", "x", USERS).is_err());
}

#[test]
fn jmespath_sets_variables() {
    for (expression, number, expect) in [
        ("total", "1", &[("x", "3"), ("x_matchNr", "1")][..]),
        ("users[1].name", "", &[("x", "Bob"), ("x_matchNr", "1")]),
        ("users[?id > `1`].name", "2", &[("x", "Cid"), ("x_matchNr", "2")]),
        ("users[*].id", "-1", &[("x_1", "1"), ("x_2", "2"), ("x_3", "3"), ("x_matchNr", "3")]),
        ("length(users)", "1", &[("x", "3"), ("x_matchNr", "1")]),
        ("zzz", "1", &[("x", "D"), ("x_matchNr", "0")]),
        ("users[", "1", &[("x", "D")]),
    ] {
        let properties = [
            ("JMESExtractor.referenceName", "x"),
            ("JMESExtractor.jmesPathExpr", expression),
            ("JMESExtractor.matchNumber", number),
            ("JMESExtractor.defaultValue", "D"),
        ];
        let sample = SampleView { text: USERS, ..SampleView::default() };
        let found = run("JMESPathExtractor", &properties, &sample, &[]);
        assert_eq!(found, pairs(expect), "{expression}");
    }
}

const PAGE: &str = r#"<html><head><title>T</title></head><body><h1 class="t">First
  one</h1><a id="a1" href="/next/1">one</a><a href="n2?x=1&amp;y=2">two</a>
  <input name="csrf" value="c5rf-1"><ul><li>A</li><li>B <b>bold</b></li></ul></body></html>"#;

#[test]
fn selectors_take_texts_and_attributes() {
    let css = |selector: &str, attribute: &str, number: &str| {
        let properties = [
            ("HtmlExtractor.refname", "x"),
            ("HtmlExtractor.expr", selector),
            ("HtmlExtractor.attribute", attribute),
            ("HtmlExtractor.match_number", number),
            ("HtmlExtractor.default", "D"),
        ];
        let sample = SampleView { text: PAGE, ..SampleView::default() };
        run("HtmlExtractor", &properties, &sample, &[])
    };
    for (selector, attribute, expect) in [
        ("h1.t", "", "First one"),
        ("input[name=csrf]", "value", "c5rf-1"),
        ("a#a1", "nosuch", ""),
        ("li:nth-child(2)", "", "B bold"),
        ("ul", "", "A B bold"),
        ("nosuch", "", "D"),
        ("a[", "", "D"),
    ] {
        assert_eq!(css(selector, attribute, "1"), pairs(&[("x", expect)]), "{selector}");
    }
    let all = [("x", "D"), ("x_1", "/next/1"), ("x_2", "n2?x=1&y=2"), ("x_matchNr", "2")];
    assert_eq!(css("a", "href", "-1"), pairs(&all));
}

const CATALOG: &str = r#"<?xml version="1.0"?><catalog xmlns:x="urn:x"><book id="b1"><title>Alpha</title></book><book id="b2"><title>Beta</title></book><x:note>hello</x:note></catalog>"#;

fn xpath(query: &str, number: &str, text: &str) -> Vec<(String, String)> {
    let properties = [
        ("XPathExtractor.refname", "x"),
        ("XPathExtractor.xpathQuery", query),
        ("XPathExtractor.matchNumber", number),
        ("XPathExtractor.default", "D"),
    ];
    let sample = SampleView { text, ..SampleView::default() };
    run("XPathExtractor", &properties, &sample, &[("x_matchNr", "3"), ("x_3", "old")])
}

#[test]
fn xpath_sets_variables() {
    let all = [("x", "b1"), ("x_1", "b1"), ("x_2", "b2"), ("x_matchNr", "2")];
    assert_eq!(xpath("//book/@id", "-1", CATALOG), pairs(&all));
    let second = pairs(&[("x", "Beta"), ("x_1", "Beta"), ("x_matchNr", "1")]);
    assert_eq!(xpath("//title", "2", CATALOG), second);
    let count = pairs(&[("x", "2"), ("x_1", "2"), ("x_matchNr", "1")]);
    assert_eq!(xpath("count(//book)", "", CATALOG), count);
    for (query, text) in [("//zzz", CATALOG), ("//a", "no xml"), ("//[", CATALOG)] {
        let found = xpath(query, "-1", text);
        assert_eq!((&*found[0].1, found.last().map(|last| &*last.1)), ("D", Some("0")), "{query}");
    }
    // Of an element that begins with another, JMeter takes nothing but counts it.
    assert_eq!(xpath("//book", "1", CATALOG), pairs(&[("x", "D"), ("x_matchNr", "1")]));
}

#[test]
fn second_xpath_has_namespaces_and_functions() {
    for (query, number, fragment, expect) in [
        ("//n:note", "0", "false", "hello"),
        ("string-join(//title, '|')", "0", "false", "Alpha|Beta"),
        ("//title", "2", "false", "Beta"),
        ("//title", "1", "true", "<title xmlns:x=\"urn:x\">Alpha</title>"),
        ("//book", "1", "false", "Alpha"),
    ] {
        let properties = [
            ("XPathExtractor2.refname", "x"),
            ("XPathExtractor2.xpathQuery", query),
            ("XPathExtractor2.matchNumber", number),
            ("XPathExtractor2.fragment", fragment),
            ("XPathExtractor2.namespaces", "n=urn:x"),
        ];
        let sample = SampleView { text: CATALOG, ..SampleView::default() };
        let found = run("XPath2Extractor", &properties, &sample, &[]);
        assert_eq!(found[0], ("x".to_owned(), expect.to_owned()), "{query}");
    }
}
