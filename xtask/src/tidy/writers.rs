//! Files that the product writes: by `stdx::private_file` or what stands on it, which follow no link and leave no half of a file.
//! `File::create` and `fs::write` write through a link that a checkout, or another user, has put there.

use crate::sources;

use super::problem::Problem;

/// What writes through links.
const WRITERS: [&str; 2] = ["File::create(", "fs::write("];

/// The problems of one file: in the crates' own code, not in tests.
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let is_own =
        path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("/tests.rs");
    if !is_own {
        return Vec::new();
    }
    let code = sources::split(text).code;
    let tests = sources::test_lines(&code);
    let found = code.lines().zip(tests).enumerate().filter(|(_, (line, is_test))| {
        !is_test && WRITERS.iter().any(|writer| line.contains(writer))
    });
    let text = "it writes through a link that another has put there; use stdx::private_file, or cli::replace_file for a document";
    found.map(|(index, _)| Problem::new(path, index + 1, "writers", text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_through_links_is_found_outside_of_tests() {
        let text = "//! A.\nfn a() {\n    std::fs::write(p, b).ok(); // fs::write(\n    let f = File::create(p)?;\n    File::create_new(p)?;\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() { std::fs::write(p, b).ok(); }\n}\n";
        let lines = |path: &str| check(path, text).iter().map(|one| one.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/lab/src/a.rs"), [3, 4]);
        for path in ["crates/lab/tests/a.rs", "crates/lab/src/tests.rs", "xtask/src/a.rs"] {
            assert!(lines(path).is_empty(), "{path}");
        }
    }
}
