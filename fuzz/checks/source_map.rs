//! A script with a source map, a source map, and the mappings of one: a position of a compiled text has one of an original, or its own.

#[allow(dead_code, reason = "its users are in its own crate")]
#[path = "../../crates/script/src/loader/source_map.rs"]
mod map;
#[allow(dead_code, reason = "its users are in its own crate")]
#[path = "../../crates/script/src/loader/module_url.rs"]
mod module_url;

use map::SourceMap;
use serde_json::json;

/// The script that has the map.
const NAME: &str = "file:///dist/a.js";
/// Positions that are looked up, each as a line and as a column, from 1.
const PLACES: [u32; 6] = [1, 2, 3, 17, 4096, u32::MAX];

/// The original of the second line's first column, where the input is a map.
///
/// # Panics
/// A position is none.
pub(crate) fn check(bytes: &[u8]) -> (String, u32, u32) {
    let text = String::from_utf8_lossy(bytes);
    look_up(&SourceMap::of_javascript(NAME, &text, &|_| None));
    let named = "a();\nb();\n//# sourceMappingURL=../maps/a.map\n";
    let of_map = |map: Vec<u8>| SourceMap::of_javascript(NAME, named, &|_| Some(map.clone()));
    let mappings = json!({ "version": 3, "sources": ["a.ts", "b.ts"], "mappings": text });
    look_up(&of_map(mappings.to_string().into_bytes()));
    let map = of_map(bytes.to_vec());
    look_up(&map);
    let place = map.original(2, 1);
    (place.file, place.line, place.column)
}

fn look_up(map: &SourceMap) {
    for line in PLACES {
        for column in PLACES {
            for place in [map.original(line, column), map.of_import(line, column)] {
                assert!(place.line > 0 && place.column > 0, "{place:?}");
                map.line(&place);
            }
        }
    }
}
