//! The fuzz targets' seeds as a plain test: each exchange, path in JSON, page and source map comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../../fuzz/checks/cookies.rs"]
mod cookies;
#[path = "../../../../fuzz/checks/gjson.rs"]
mod gjson;
#[path = "../../../../fuzz/checks/html.rs"]
mod html;
#[path = "../../../../fuzz/checks/source_map.rs"]
mod source_map;

fn seed_of(target: &str, name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");
    std::fs::read(format!("{CORPUS}{target}/{name}")).expect("a seed")
}

#[test]
fn exchanges_come_to_what_their_seeds_say() {
    let cases = [
        ("set", "a=1; c=3; d=4; b=\"2\"", 0),
        ("gone", "", 0),
        ("foreign", "b=2", 0),
        ("odd", "b=\"x y,z\"; c=1; d=1", 0),
        ("digest", "", 2),
    ];
    for (name, sent, answers) in cases {
        let exchange = cookies::check(&seed_of("cookies", name)).expect(name);
        assert_eq!((exchange.cookies.as_str(), exchange.answers), (sent, answers), "{name}");
    }
}

#[test]
fn paths_come_to_what_their_seeds_say() {
    let cases = [
        ("member", Some("[1,2]")),
        ("query", Some("[\"x\",\"y\\u00e4\"]")),
        ("wildcard", Some("1")),
        ("many", Some(r#"{"[c,d]":[null,"e"],"x":2,"a":1}"#)),
        ("modifiers", Some("\"b\"")),
        ("escape", None),
        ("stars", None),
        ("nested_queries", Some("[[1]]")),
        ("no_json", None),
    ];
    for (name, expect) in cases {
        assert_eq!(gjson::check(&seed_of("gjson", name)).as_deref(), expect, "{name}");
    }
}

#[test]
fn pages_come_to_what_their_seeds_say() {
    let cases = [
        ("page", Some(3)),
        ("formatting", Some(40)),
        ("tables", Some(2)),
        ("deep", Some(399)),
        ("odd", Some(0)),
        ("no_selector", None),
    ];
    for (name, matches) in cases {
        assert_eq!(html::check(&seed_of("html", name)), matches, "{name}");
    }
}

#[test]
fn source_maps_come_to_what_their_seeds_say() {
    let cases = [
        ("two_lines", "file:///src/a.ts", 3),
        ("beyond_all_lines", "file:///dist/a.ts", u32::MAX),
        ("no_source", "", 1),
        ("cut_off", "file:///dist/a.ts", 2),
        ("script", "file:///dist/a.js", 2),
        ("mappings", "file:///dist/a.js", 2),
    ];
    for (name, file, line) in cases {
        let place = source_map::check(&seed_of("source_map", name));
        assert_eq!(place, (file.to_owned(), line, 1), "{name}");
    }
}
