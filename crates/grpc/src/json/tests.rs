//! JSON of messages: every type both ways, and what does not fit with its place.

use crate::definitions::tests::definitions;
use crate::json::encode;

use super::*;

const PROTO: &str = r#"syntax = "proto3"; package t;
import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
import "google/protobuf/empty.proto";
enum Colour { NONE = 0; RED = 1; NEGATIVE = -5; }
message Inner { string a = 1; int32 b = 2; }
message All {
  int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; float flt = 5; double dbl = 6; bool flag = 7; string str = 8;
  bytes raw = 9; Colour colour = 10; string some_long_name = 11; Inner inner = 12; repeated Inner many = 13;
  map<string, int32> counts = 14; map<int32, string> names = 15; map<bool, Inner> by_flag = 16;
  oneof choice { string as_text = 17; int32 as_number = 18; } optional int32 opt = 19; repeated int32 ints = 20;
  google.protobuf.Timestamp ts = 21; google.protobuf.Duration dur = 22; google.protobuf.FieldMask mask = 23;
  google.protobuf.Struct st = 24; google.protobuf.Value val = 25; google.protobuf.Any any = 26;
  google.protobuf.Int64Value i64v = 27; google.protobuf.Empty empty = 28; google.protobuf.NullValue nv = 29;
  google.protobuf.ListValue list = 30; google.protobuf.BoolValue bv = 31;
}
"#;

fn of(name: &str) -> MessageDescriptor {
    definitions(PROTO).message(name).expect("a message")
}

/// The JSON of a message that was read from JSON and went over the wire, as far as it is about these fields.
fn mirror(json: &str, of: &MessageDescriptor) -> Result<serde_json::Value, JsonError> {
    use prost_reflect::prost::Message as _;
    let bytes = decode(json, of)?.encode_to_vec();
    let back = DynamicMessage::decode(of.clone(), &bytes[..]).expect("our own bytes");
    Ok(serde_json::from_str(&encode(&back)?).expect("JSON"))
}

#[test]
fn fields_go_both_ways() {
    let all = of("t.All");
    for (json, field, expect) in [
        (r#"{"i32":"12"}"#, "i32", "12"),
        (r#"{"i64":12}"#, "i64", r#""12""#),
        (r#"{"i64":"9223372036854775807"}"#, "i64", r#""9223372036854775807""#),
        (r#"{"flt":1.1}"#, "flt", "1.1"),
        (r#"{"dbl":1e21}"#, "dbl", "1e21"),
        (r#"{"dbl":"NaN"}"#, "dbl", r#""NaN""#),
        (r#"{"raw":"-_8"}"#, "raw", r#""+/8=""#),
        (r#"{"colour":"RED"}"#, "colour", r#""RED""#),
        (r#"{"colour":77}"#, "colour", "77"),
        (r#"{"some_long_name":"x"}"#, "someLongName", r#""x""#),
        (r#"{"inner":{}}"#, "inner", r#"{"a":"","b":0}"#),
        (r#"{"many":[{"b":2},{}]}"#, "many", r#"[{"a":"","b":2},{"a":"","b":0}]"#),
        (r#"{"counts":{"b":2,"a":1}}"#, "counts", r#"{"a":1,"b":2}"#),
        (r#"{"names":{"-1":"m"}}"#, "names", r#"{"-1":"m"}"#),
        (r#"{"byFlag":{"true":{}}}"#, "byFlag", r#"{"true":{"a":"","b":0}}"#),
        (r#"{"asNumber":0}"#, "asNumber", "0"),
        (r#"{"opt":0}"#, "opt", "0"),
        (r#"{"ints":null}"#, "ints", "[]"),
        (r#"{"ts":"2024-01-01T01:02:03.5+01:00"}"#, "ts", r#""2024-01-01T00:02:03.500Z""#),
        (r#"{"dur":"1.5s"}"#, "dur", r#""1.500s""#),
        (r#"{"mask":"a,bC,d.eF"}"#, "mask", r#""a,bC,d.eF""#),
        (r#"{"st":{"a":1,"b":[true,null]}}"#, "st", r#"{"a":1.0,"b":[true,null]}"#),
        (r#"{"val":null}"#, "val", "null"),
        (r#"{"val":{"k":false}}"#, "val", r#"{"k":false}"#),
        (r#"{"list":[1,[2]]}"#, "list", "[1.0,[2.0]]"),
        (r#"{"i64v":5}"#, "i64v", r#""5""#),
        (r#"{"bv":false}"#, "bv", "false"),
        (r#"{"nv":null}"#, "nv", "null"),
        (
            r#"{"any":{"@type":"type.googleapis.com/t.Inner","a":"x"}}"#,
            "any",
            r#"{"@type":"type.googleapis.com/t.Inner","a":"x","b":0}"#,
        ),
        (
            r#"{"any":{"@type":"x/google.protobuf.Duration","value":"2s"}}"#,
            "any",
            r#"{"@type":"x/google.protobuf.Duration","value":"2s"}"#,
        ),
        (r#"{"any":{}}"#, "any", "{}"),
        ("{}", "inner", "null"),
        ("{}", "val", "null"),
        ("{}", "i64", r#""0""#),
        ("{}", "colour", r#""NONE""#),
    ] {
        let got = mirror(json, &all).unwrap_or_else(|error| panic!("{json}: {error}"));
        let numbers =
            |text: String| text.replace(".0,", ",").replace(".0]", "]").replace(".0}", "}");
        let expect: serde_json::Value = serde_json::from_str(expect).expect("JSON");
        assert_eq!(numbers(got[field].to_string()), numbers(expect.to_string()), "{json}");
    }
    let empty = mirror("{}", &all).expect("JSON");
    assert!(empty.get("opt").is_none() && empty.get("asText").is_none(), "{empty}");
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    let all = of("t.All");
    for (json, expect) in [
        (r#"{"i32":"0012"}"#, "proto: (line 1:8): invalid value for int32 field i32: \"0012\""),
        (
            r#"{"i32":2147483648}"#,
            "proto: (line 1:8): invalid value for int32 field i32: 2147483648",
        ),
        (r#"{"flag":1}"#, "proto: (line 1:9): invalid value for bool field flag: 1"),
        (r#"{"raw":{"0":1}}"#, "proto: (line 1:8): invalid value for bytes field raw: {"),
        (
            r#"{"colour":"PINK"}"#,
            "proto: (line 1:11): invalid value for enum field colour: \"PINK\"",
        ),
        (r#"{"flt":1e39}"#, "proto: (line 1:8): invalid value for float field flt: 1e39"),
        (r#"{"nope":1}"#, "proto: (line 1:2): unknown field \"nope\""),
        (
            r#"{"someLongName":"a","some_long_name":"b"}"#,
            "proto: (line 1:21): duplicate field \"some_long_name\"",
        ),
        (
            r#"{"asText":"x","asNumber":1}"#,
            "proto: (line 1:15): error parsing \"asNumber\", oneof t.All.choice is already set",
        ),
        (r#"{"ints":5}"#, "proto: syntax error (line 1:9): unexpected token 5"),
        (r#"{"ints":[null]}"#, "proto: (line 1:10): invalid value for int32 field ints: null"),
        (
            r#"{"counts":{"a":null}}"#,
            "proto: (line 1:16): invalid value for int32 field value: null",
        ),
        (r#"{"names":{"x":"y"}}"#, "proto: (line 1:11): invalid value for int32 key: \"x\""),
        (
            r#"{"ts":"yesterday"}"#,
            "proto: (line 1:7): invalid google.protobuf.Timestamp value \"yesterday\"",
        ),
        (r#"{"ts":5}"#, "proto: syntax error (line 1:7): unexpected token 5"),
        (
            r#"{"mask":"a_b"}"#,
            "proto: (line 1:9): google.protobuf.FieldMask.paths contains invalid path: \"a_b\"",
        ),
        (r#"{"any":{"a":1}}"#, "proto: (line 1:8): missing \"@type\" field"),
        (
            r#"{"any":{"@type":"t/no.Such"}}"#,
            "proto: (line 1:17): unable to resolve \"t/no.Such\": \"not found\"",
        ),
        (r#"{"empty":{"a":1}}"#, "proto: (line 1:11): unknown field \"a\""),
        (r#"{"bv":"true"}"#, "proto: (line 1:7): invalid value for bool field value: \"true\""),
        ("{\n \"i32\":}", "proto: syntax error (line 2:8): unexpected token }"),
        ("{} x", "proto: syntax error (line 1:4): unexpected token x"),
    ] {
        let error = decode(json, &all).expect_err(json);
        assert_eq!(error.to_string(), expect, "{json}");
    }
    let deep = format!("{{\"val\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(decode(&deep, &all).expect_err("deep").to_string().contains("recursion depth"));
}
