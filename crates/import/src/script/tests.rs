//! What scripts look like, and that no stranger's text gets out of its quotes.

use super::*;
use crate::Redirects;
use crate::{Auth, Body, Exchange, Extraction, Find, Header, JsonStep, Kind, Source, Text};

fn import_of(exchanges: Vec<Exchange>, group: &str) -> Import {
    let steps = exchanges.into_iter().map(|one| Step::Exchange(Box::new(one))).collect();
    Import {
        inputs: vec![("orders.sh".into(), Kind::Curl)],
        groups: vec![Group { name: group.into(), steps }],
        ..Import::default()
    }
}

#[test]
fn a_script_reads_as_a_colleague_writes_it() {
    let create = Exchange {
        method: "POST".into(),
        url: "https://shop.example/orders?x=1".into(),
        headers: vec![Header { name: "Content-Type".into(), value: "application/json".into() }],
        body: Body::Text("{\"n\":1}".into()),
        statuses: vec![201],
        extractions: vec![Extraction {
            variable: "order id".into(),
            find: Find::Json(vec![JsonStep::Key("id".into())]),
            cut: None,
            decodings: vec![],
            remark: "goes into the address of the next".into(),
        }],
        ..Exchange::default()
    };
    let mut url = Text::literal("https://shop.example/orders/");
    url.push_value(Source::Variable("order id".into()), vec![]);
    let show = Exchange {
        method: "GET".into(),
        url,
        auth: Some(Auth::Bearer(Text::value(Source::Env { name: "TOKEN".into(), default: None }))),
        redirects: Redirects::Stop,
        ..Exchange::default()
    };
    let script = write_script(&import_of(vec![create, show], "Orders"), &ScriptSettings::default());
    let snapshot = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/script/orders.js");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&snapshot, &script).unwrap();
    }
    assert_eq!(script, std::fs::read_to_string(&snapshot).unwrap(), "UPDATE=1 rewrites it");
}

#[test]
fn no_text_gets_out_of_its_quotes() {
    let evil = "'\"`${evil()}\n\u{2028}*/evil();//\\";
    let exchange = Exchange {
        name: evil.into(),
        method: format!("GET{evil}"),
        url: format!("https://a.example/{evil}").into(),
        headers: vec![Header { name: evil.into(), value: evil.into() }],
        body: Body::Text(evil.into()),
        cookies: Cookies::Jar(evil.into()),
        remarks: vec![evil.into()],
        ..Exchange::default()
    };
    let mut import = import_of(vec![exchange], evil);
    import.inputs[0].0 = evil.into();
    let script = write_script(&import, &ScriptSettings::default());
    assert!(!script.contains("\u{2028}"), "{script}");
    assert!(!script.lines().any(|line| line.trim_start().starts_with("*/evil")), "{script}");
}

#[test]
fn fields_of_one_name_are_one_member() {
    let field = |name: &str, value: &str| Header { name: name.into(), value: value.into() };
    let exchange = Exchange {
        method: "GET".into(),
        url: "https://a.example/".into(),
        headers: vec![
            field("X-A", "1"),
            field("x-a", "2"),
            field("Cookie", "a=b"),
            field("Cookie", "c=d"),
            field("Referer", "https://b.example/"),
            field("Referer", "https://c.example/"),
        ],
        ..Exchange::default()
    };
    let script = write_script(&import_of(vec![exchange], ""), &ScriptSettings::default());
    for expect in ["'X-A': '1, 2'", "Cookie: 'a=b; c=d'", "Referer: 'https://c.example/'"] {
        assert!(script.contains(expect), "{script}");
    }
}

#[test]
fn a_variable_with_two_values_is_two_constants() {
    let at = |value: &str| {
        let mut url = Text::literal("https://a.example/");
        url.push_value(Source::Env { name: "v".into(), default: Some(value.into()) }, vec![]);
        Exchange { method: "GET".into(), url, ..Exchange::default() }
    };
    let import = import_of(vec![at("1"), at("2"), at("1")], "");
    let script = write_script(&import, &ScriptSettings::default());
    for expect in ["const V = __ENV.v || '1';", "const V2 = __ENV.v || '2';", "/${V2}`"] {
        assert!(script.contains(expect), "{script}");
    }
}
