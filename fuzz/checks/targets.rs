//! A targets file in both grammars: whatever it holds, it becomes targets or problems within their limits.

use workload::TargetList;
use workload::targets::{Grammar, Options, PROBLEMS_MAX, Problem, http, json};

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Vegeta's `http` format.
    #[allow(dead_code, reason = "each fuzz target checks one format")]
    Http,
    /// Vegeta's `json` format.
    #[allow(dead_code, reason = "each fuzz target checks one format")]
    Json,
}

/// Parses the bytes in both grammars; gives what the native one says.
///
/// # Panics
/// The parser breaks its word.
pub(crate) fn check(format: Format, bytes: &[u8]) -> (TargetList, Vec<Problem>) {
    let (_, problems) = parse(format, Grammar::Vegeta, bytes);
    assert!(problems.len() <= 1, "Vegeta stops at the first problem");
    let (targets, problems) = parse(format, Grammar::Native, bytes);
    assert!(!targets.is_empty() || !problems.is_empty(), "nothing was said");
    assert!(problems.len() <= PROBLEMS_MAX);
    for problem in &problems {
        assert!(!problem.to_string().is_empty());
    }
    (targets, problems)
}

fn parse(format: Format, grammar: Grammar, bytes: &[u8]) -> (TargetList, Vec<Problem>) {
    let options = Options { grammar, ..Options::default() };
    match format {
        Format::Http => {
            let mut body = |path: &str| match path {
                "absent" => Err("no such file or directory".to_owned()),
                _ => Ok(path.as_bytes().to_vec()),
            };
            http::parse(bytes, &options, &mut body)
        }
        Format::Json => json::parse(bytes, &options),
    }
}
