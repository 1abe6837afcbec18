//! What Jayway's JsonPath finds in the same documents.

use super::{Path, PathError, parse_json, plain};

const STORE: &str = r#"{"store":{"book":[
  {"category":"reference","author":"Nigel","title":"Sayings","price":8.95},
  {"category":"fiction","author":"Evelyn","title":"Sword","price":12.99},
  {"category":"fiction","author":"Herman","title":"Moby","isbn":"0-553","price":8.99},
  {"category":"fiction","author":"J. R.","title":"Lord","isbn":"0-395","price":22.99}],
  "bicycle":{"color":"red","price":19.95,"a b":1,"it's":2}},"expensive":10,"list":[1,2,[3]],"dots":{"a.b":"dotted"}}"#;

fn find(path: &str) -> Result<Vec<String>, PathError> {
    let document = parse_json(STORE).expect("JSON");
    let found = Path::parse(path)?.find(&document)?;
    Ok(found.iter().map(plain).collect())
}

#[test]
fn paths_find_their_values() {
    for (path, expect) in [
        ("$.expensive", "10"),
        ("$.store.book[*].author", "Nigel|Evelyn|Herman|J. R."),
        ("$..author", "Nigel|Evelyn|Herman|J. R."),
        ("$.store..price", "19.95|8.95|12.99|8.99|22.99"),
        ("$..book[2].title", "Moby"),
        ("$..book[-1].title", "Lord"),
        ("$..book[0,1].title", "Sayings|Sword"),
        ("$..book[:2].title", "Sayings|Sword"),
        ("$..book[1:2].title", "Sword"),
        ("$..book[-2:].title", "Moby|Lord"),
        ("$..book[?(@.isbn)].title", "Moby|Lord"),
        ("$.store.book[?(@.price < 10)].title", "Sayings|Moby"),
        ("$..book[?(@.price <= $['expensive'])].title", "Sayings|Moby"),
        ("$..book[?(@.author =~ /.*EV.*/i)].title", "Sword"),
        ("$..book[?(@.category == 'fiction' && @.price > 20)].title", "Lord"),
        ("$..book[?(@.price > 20 || @.title == \"Sword\")].title", "Sword|Lord"),
        ("$..book[?(!(@.isbn))].title", "Sayings|Sword"),
        ("$..book[?(@.title in ['Moby', 'Lord'])].author", "Herman|J. R."),
        ("$..book[?(@.title nin ['Moby', 'Lord'])].author", "Nigel|Evelyn"),
        ("$..book[?(@['isbn'] != null)].title", "Sayings|Sword|Moby|Lord"),
        ("$.store['bicycle']['color']", "red"),
        ("$['store']['bicycle']['a b']", "1"),
        ("$.store.bicycle['it\\'s']", "2"),
        ("$.store.bicycle['color','price']", "red|19.95"),
        ("$.dots['a.b']", "dotted"),
        ("$.list[2][0]", "3"),
        ("$.list.length()", "3"),
        ("$..book.length()", "1"),
        ("$.store.book[*].price.max()", "22.99"),
        ("$.list[5:9]", ""),
        ("$.store.book[?(@.price > 100)]", ""),
        ("expensive", "10"),
    ] {
        assert_eq!(
            find(path).unwrap_or_else(|error| panic!("{path}: {error}")).join("|"),
            expect,
            "{path}"
        );
    }
}

#[test]
fn definite_paths_must_lead_somewhere() {
    for (path, expect) in [
        ("$.zzz", "No results for path: $['zzz']"),
        ("$.store.zzz", "No results for path: $['store']['zzz']"),
        ("$.list[7]", "No results for path: $['list'][7]"),
        ("$.zzz.a", "Missing property in path $['zzz']"),
        (
            "$.expensive.a",
            "Expected to find an object with property ['a'] in path $['expensive'] but found 'java.lang.Integer'. This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
        ),
        ("$.expensive[0]", "Filter: [0] can only be applied to arrays. Current context is: 10"),
    ] {
        assert_eq!(find(path).expect_err("not found").to_string(), expect, "{path}");
    }
}

#[test]
fn broken_paths_have_places() {
    for path in
        ["$.", "$.a[", "$[?(@.a", "$[?(@.a ==)]", "$..", "$.a b", "$['a", "$[x]", "$.a.nosuch()"]
    {
        assert!(matches!(find(path), Err(PathError::Malformed { .. })), "{path}");
    }
    let deep = format!("$[?({}1{})]", "(".repeat(10_000), ")".repeat(10_000));
    assert!(find(&deep).is_err());
}

#[test]
fn deep_scans_are_bounded() {
    let document = parse_json(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).expect("JSON");
    let path = Path::parse(&format!("${}", "..*".repeat(12))).expect("a path");
    assert!(matches!(path.find(&document), Err(PathError::TooLong)));
    assert!(parse_json(&"[".repeat(100_000)).is_err());
}
