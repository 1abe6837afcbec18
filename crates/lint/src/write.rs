//! Findings as text for people, as JSON, and as SARIF 2.1.0 for the pages of code hosts.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stdx::terminal_line;

use crate::finding::{Finding, Rule, Severity};

/// The findings for people: a line each, its cure below it, and how many there are.
#[must_use]
pub fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let file = terminal_line(&finding.file);
        let message = terminal_line(&finding.message);
        let (place, rule) = (finding.place, finding.rule);
        writeln!(
            text,
            "{file}:{}:{}: {}: {message} [{}]\n    {}",
            place.line,
            place.column,
            rule.severity().word(),
            rule.name(),
            rule.cure()
        )
        .unwrap_or_default();
    }
    text + &total(findings)
}

fn total(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing was found\n".to_owned();
    }
    let count = |severity: Severity| {
        let of = findings.iter().filter(|finding| finding.rule.severity() == severity).count();
        (of > 0).then(|| stdx::counted(of as u64, severity.word()))
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(count);
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    format!("{}\n", counts.join(", "))
}

/// The findings as JSON: a list of objects.
#[must_use]
pub fn json(findings: &[Finding]) -> String {
    let list = findings.iter().map(|finding| {
        json!({
            "rule": finding.rule.name(),
            "severity": finding.rule.severity().word(),
            "file": finding.file,
            "line": finding.place.line,
            "column": finding.place.column,
            "message": finding.message,
            "cure": finding.rule.cure(),
        })
    });
    pretty(&Value::Array(list.collect()))
}

/// The findings as SARIF 2.1.0.
#[must_use]
pub fn sarif(findings: &[Finding], version: &str) -> String {
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.name(),
            "shortDescription": { "text": rule.cure() },
            "defaultConfiguration": { "level": rule.severity().word() },
        })
    });
    let results: Vec<Value> = findings.iter().map(result).collect();
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "brunt lint", "version": version, "rules": rules } },
            "results": results,
        }],
    }))
}

fn result(finding: &Finding) -> Value {
    let text = format!("{}: {}", finding.message, finding.rule.cure());
    json!({
        "ruleId": finding.rule.name(),
        "level": finding.rule.severity().word(),
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": finding.file },
                "region": { "startLine": finding.place.line, "startColumn": finding.place.column },
            },
        }],
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    #[test]
    fn a_finding_in_each_form() {
        let place = Place { line: 3, column: 7 };
        let finding = Finding {
            rule: Rule::CheckAssigns,
            file: "a\u{1b}.js".to_owned(),
            place,
            message: "it assigns".to_owned(),
        };
        let findings = [finding];
        let shown = text(&findings);
        assert!(
            shown.contains(
                ".js:3:7: error: it assigns [check-assigns]\n    compare by ===\n1 error\n"
            ),
            "{shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let list: Value = serde_json::from_str(&json(&findings)).unwrap();
        assert_eq!((&list[0]["line"], &list[0]["severity"]), (&3.into(), &"error".into()));
        let sarif: Value = serde_json::from_str(&sarif(&findings, "1")).unwrap();
        let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startColumn"], 7);
        assert_eq!(
            sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(),
            Rule::ALL.len()
        );
        assert_eq!(text(&[]), "nothing was found\n");
    }
}
