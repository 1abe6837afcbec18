//! Values of expressions on the same documents as Xalan and Saxon have them.

use super::{Names, Shape, Tree, XPathError, XmlError, evaluate, texts};

const CATALOG: &str = r#"<?xml version="1.0"?><catalog xmlns:x="urn:x"><book id="b1" lang="en"><title>Alpha</title><price>10.50</price></book><book id="b2" lang="de"><title>Beta</title><price>7</price></book><x:note>hello</x:note><empty/></catalog>"#;

fn found(tree: &Tree, query: &str, shape: Shape) -> Result<String, XPathError> {
    let names = Names { namespaces: &[], ignores_namespaces: false };
    let value = evaluate(tree, query, names)?;
    let texts = texts(tree, &value, shape);
    Ok(texts
        .into_iter()
        .map(|text| text.unwrap_or_else(|| "null".to_owned()))
        .collect::<Vec<_>>()
        .join("|"))
}

#[test]
fn expressions_have_values() {
    let tree = Tree::of_xml(CATALOG).expect("XML");
    for (query, expect) in [
        ("/catalog/book[1]/title/text()", "Alpha"),
        ("//book/@id", "b1|b2"),
        ("//book[@lang='de']/title", "Beta"),
        ("//book[price > 8]/@id", "b1"),
        ("count(//book)", "2"),
        ("concat(//book[1]/title, '-', //book[2]/price)", "Alpha-7"),
        ("//book[last()]/title", "Beta"),
        ("(//title)[2]", "Beta"),
        ("//title[. = 'Beta']/../@id", "b2"),
        ("//book[position() < 2]/title | //empty", "Alpha|"),
        ("//book[starts-with(title, 'B') or @id='zz']/title", "Beta"),
        ("//book[not(@lang='en')]/following-sibling::*", "hello|"),
        ("//price/preceding-sibling::title", "Alpha|Beta"),
        ("//title/ancestor::catalog/book[1]/@lang", "en"),
        ("//x:note/text()", "hello"),
        ("//*[local-name()='note']", "hello"),
        ("//note", ""),
        ("sum(//price)", "17.5"),
        ("number('x')", "NaN"),
        ("1 div 0", "Infinity"),
        ("7 mod 4 + 2 * 3 - -1", "10"),
        ("string-length(normalize-space('  a  b '))", "3"),
        ("substring('12345', 2, 3)", "234"),
        ("substring-after('a=b', '=')", "b"),
        ("translate('bar','abc','AB')", "BAr"),
        ("boolean(//zzz)", "false"),
        ("//book[2] = //title", "false"),
        ("upper-case(//book[2]/title)", "BETA"),
        ("string-join(//book/title, '|')", "Alpha|Beta"),
        ("max(//price)", "10.5"),
        ("//book/title/upper-case(.)", "ALPHA|BETA"),
        ("for $b in //book return concat($b/@id, '!')", "b1!|b2!"),
        ("if (count(//book) eq 2) then 'two' else 'other'", "two"),
        ("matches(//title[1], '^Al')", "true"),
        ("replace('a1b2', '[0-9]', '-')", "a-b-"),
        ("replace('ab', '(a)(b)', '$2$1')", "ba"),
        ("tokenize('a,b,c', ',')", "a|b|c"),
        ("distinct-values((1, 2, 1))", "1|2"),
        ("(1 to 3)[2]", "2"),
        ("/catalog/*/name()", "book|book|x:note|empty"),
        ("exists(//zzz)", "false"),
    ] {
        let value = found(&tree, query, Shape::AllText);
        assert_eq!(value.as_deref(), Ok(expect), "{query}");
    }
}

#[test]
fn nodes_have_shapes() {
    let tree = Tree::of_xml(CATALOG).expect("XML");
    let title = "//book[1]/title";
    assert_eq!(
        found(&tree, title, Shape::DeclaredMarkup).as_deref(),
        Ok("<title xmlns:x=\"urn:x\">Alpha</title>")
    );
    assert_eq!(found(&tree, title, Shape::Markup).as_deref(), Ok("<title>Alpha</title>"));
    assert_eq!(found(&tree, "//book[1]", Shape::FirstText).as_deref(), Ok("null"));
    assert_eq!(found(&tree, "//book[1]", Shape::AllText).as_deref(), Ok("Alpha10.50"));
    assert_eq!(
        found(&tree, "//book[2]", Shape::Markup).as_deref(),
        Ok("<book id=\"b2\" lang=\"de\"><title>Beta</title><price>7</price></book>")
    );
}

#[test]
fn pages_are_trees_too() {
    let tree = Tree::of_page("<p class=a>one<p>two<br><a href=x>l</a>");
    assert_eq!(found(&tree, "//p[@class='a']", Shape::FirstText).as_deref(), Ok("one"));
    assert_eq!(found(&tree, "/html/body/p[2]/a/@href", Shape::FirstText).as_deref(), Ok("x"));
    Tree::of_page(&"<div>".repeat(20_000));
}

/// Each element sees the namespaces of those around it: 60 kB of XML took longer than anyone waits.
#[test]
fn many_namespaces_take_bounded_time() {
    let declared = |count: usize| -> String {
        (0..count).map(|at| format!(" xmlns:p{at}='urn:{at}'")).collect()
    };
    let wide = format!("<a{}>{}<p2999:b/></a>", declared(3_000), "<b/>".repeat(3_000));
    let tree = Tree::of_xml(&wide).expect("XML");
    assert_eq!(found(&tree, "count(//p2999:b)", Shape::AllText).as_deref(), Ok("1"));
    let vast = format!("<a{}>{}</a>", declared(30_000), "<b/>".repeat(30_000));
    assert_eq!(Tree::of_xml(&vast).err(), Some(XmlError::Namespaces));
    let again = "<a xmlns:p='urn:1'><b xmlns:p='urn:2' xmlns:q='urn:3'><q:c/></b></a>";
    let tree = Tree::of_xml(again).expect("XML");
    assert_eq!(found(&tree, "count(//q:c)", Shape::AllText).as_deref(), Ok("1"));
}

#[test]
fn broken_and_endless_expressions_end() {
    let tree = Tree::of_xml(CATALOG).expect("XML");
    for query in
        ["//book[", "", "//", "nosuch()", "1 +", "$x", "'a", "a b", "//book/@", &"(".repeat(5_000)]
    {
        assert!(found(&tree, query, Shape::AllText).is_err(), "{query}");
    }
    for operator in [" + 1", " | //a", " or 1", " = 1"] {
        let long = format!("1{}", operator.repeat(100_000));
        assert!(found(&tree, &long, Shape::AllText).is_err(), "{operator}");
    }
    let sum = format!("1{}", " + 1".repeat(150));
    assert_eq!(found(&tree, &sum, Shape::AllText).as_deref(), Ok("151"));
    let wide = format!("<a>{}</a>", "<b/>".repeat(3_000));
    let tree = Tree::of_xml(&wide).expect("XML");
    let query = "//b[count(//b[count(//b) > 1]) > 1]";
    assert_eq!(found(&tree, query, Shape::AllText), Err(XPathError::TooLong));
}
