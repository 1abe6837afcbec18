//! JMeter's results: by any header and delimiter, and XML; each request once; damage with its line.

use metrics::{FailureKind, Outcome};
use results::{Encoding, InputForm};

use crate::rows::{Flat, Found, decode, encode, plain};

const DEFAULT: &str = include_str!("../jtl/default.jtl");
const XML: &str = include_str!("../jtl/default.xml");

/// Label, milliseconds from the first row on, duration in milliseconds, outcome, failure, error.
fn shown(row: &Flat, first: i128) -> (String, i128, u64, Outcome, FailureKind, String) {
    let at = (row.intended - first) / 1_000_000;
    let error = String::from_utf8(row.texts[0].clone()).unwrap();
    (row.asked[3].clone(), at, row.offsets[2] / 1_000_000, row.outcome, row.failure, error)
}

#[track_caller]
fn whole(text: &str, form: InputForm) -> Found {
    let found = decode(&[text.as_bytes()]);
    assert!(found.error.is_none(), "{:?}", found.error);
    assert_eq!(
        (found.forms.as_slice(), found.losses.len()),
        (&[form][..], 0),
        "{:?}",
        found.losses
    );
    found
}

#[test]
fn rows_of_the_default_columns_are_requests() {
    let found = whole(DEFAULT, InputForm::Jtl);
    let first = 1_700_000_000_000_000_000;
    let rows: Vec<_> = found.rows.iter().map(|row| shown(row, first)).collect();
    let none = FailureKind::None;
    let asserted = "Test failed: text expected to contain /x, y/\nsecond line".to_owned();
    let dead = "java.net.ConnectException: Connection refused".to_owned();
    assert_eq!(
        rows,
        [
            ("home".to_owned(), 0, 120, Outcome::Http(200), none, String::new()),
            ("cart".to_owned(), 200, 30, Outcome::Http(200), FailureKind::Assertion, asserted),
            ("gone".to_owned(), 240, 5, Outcome::Http(404), none, "404 Not Found".to_owned()),
            ("dead".to_owned(), 250, 3, Outcome::None, FailureKind::Refused, dead),
        ]
    );
    let home = &found.rows[0];
    assert_eq!((home.sizes, home.asked[2].as_str()), ([120, 1500, 1500], "http://h/"));
    assert_eq!(home.offsets[1], 100_000_000);
}

#[test]
fn xml_has_the_same_rows() {
    let found = whole(XML, InputForm::JtlXml);
    let labels: Vec<&str> = found.rows.iter().map(|row| row.asked[3].as_str()).collect();
    assert_eq!(labels, ["home & hearth", "cart", "ok"]);
    assert_eq!(found.rows[1].failure, FailureKind::Assertion);
    assert_eq!(found.rows[1].texts[0], b"Test failed: text expected");
    assert_eq!(found.rows[0].asked[1], "GET");
}

#[test]
fn other_headers_and_delimiters_are_read() {
    let text = "label\telapsed\ttimeStamp\tsuccess\nx\t12\t2023-11-14T22:13:20.000Z\ttrue\ny\t15\t2023-11-14T22:13:21.000Z\tfalse\n";
    let found = whole(text, InputForm::Jtl);
    let outcomes: Vec<_> = found.rows.iter().map(|row| (row.outcome, row.failure)).collect();
    let (message, none) = (Outcome::Message, FailureKind::None);
    assert_eq!(outcomes, [(message, none), (Outcome::None, FailureKind::Assertion)]);
    let semicolons = "timeStamp;elapsed;label;responseCode\r\n1700000000000;1;a;200\r\n\r\ntimeStamp;elapsed;label;responseCode\r\n1700000000001;2;b;500\r\n";
    assert_eq!(whole(semicolons, InputForm::Jtl).rows.len(), 2);
    let headless = DEFAULT.split_once('\n').unwrap().1;
    assert_eq!(whole(headless, InputForm::Jtl).rows, whole(DEFAULT, InputForm::Jtl).rows);
}

#[test]
fn malformed_and_cut_lines_are_named() {
    let bad = DEFAULT.replace("1700000000240,5,", "1700000000240,five,");
    let found = decode(&[bad.as_bytes()]);
    let error = found.error.unwrap().to_string();
    assert!(
        error.contains("as jtl: at byte") && error.contains("line 7: elapsed: \"five\""),
        "{error}"
    );
    assert_eq!(found.rows.len(), 2, "what came before it is handed out");
    let cut = &DEFAULT[..DEFAULT.len() - 200];
    let found = decode(&[cut.as_bytes()]);
    assert!(found.losses[0].contains("cut off in its last record (line "), "{:?}", found.losses);
    let cut = XML.split("<sample").next().unwrap();
    let found = decode(&[cut.as_bytes()]);
    assert_eq!(found.rows.len(), 1);
    assert!(found.losses[0].contains("does not end with </testResults>"), "{:?}", found.losses);
    let found = decode(&[b"elapsed,label\n1,a\n"]);
    assert!(found.error.unwrap().to_string().contains("no column timeStamp"));
}

#[test]
fn they_are_merged_with_others() {
    let other = encode(Encoding::Csv, &[plain(5, 0)], None);
    let found = decode(&[DEFAULT.as_bytes(), &other]);
    assert_eq!(found.rows.len(), 9);
    assert_eq!(found.forms, [InputForm::Jtl, InputForm::Stream(Encoding::Csv)]);
}
