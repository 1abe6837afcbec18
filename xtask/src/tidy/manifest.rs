//! Rules about the workspace as a whole: floors, the comments on dependencies, and crates/README.md naming every crate and no
//! ghost.

use crate::workspace::Package;

use super::problem::Problem;

/// Arrows between peers that tests alone may draw: the engine is tested against the demo server, and the demo server
/// with the engine.
const TEST_ARROWS: [(&str, &str); 1] = [("engine", "demo")];

/// ARCHITECTURE.md may have this many lines.
const ARCHITECTURE_LINES_MAX: usize = 200;

/// A package depends only on lower floors, and says which floor is its own.
pub(super) fn check_floors(packages: &[Package]) -> Vec<Problem> {
    let floor = |name: &str| packages.iter().find(|one| one.name == name).and_then(|p| p.floor);
    let mut problems = Vec::new();
    for package in packages {
        let file = format!("{}/Cargo.toml", package.name);
        let Some(own) = package.floor else {
            let text = "no [package.metadata.house] floor";
            problems.push(Problem::new(&file, 0, "floors", text));
            continue;
        };
        for arrow in &package.dependencies {
            let allowed =
                arrow.dev && TEST_ARROWS.contains(&(package.name.as_str(), arrow.name.as_str()));
            if !allowed && floor(&arrow.name).is_none_or(|below| below >= own) {
                let text = format!("floor {own} may not depend on {} (below only)", arrow.name);
                problems.push(Problem::new(&file, 0, "floors", text));
            }
        }
    }
    problems
}

/// Each dependency from outside has a comment above it that says what it saves; one comment may stand over a group.
pub(super) fn check_comments(manifest: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (mut inside, mut explained) = (false, false);
    for (index, line) in manifest.lines().map(str::trim).enumerate() {
        if line.starts_with('[') {
            (inside, explained) = (line == "[workspace.dependencies]", false);
        } else if line.starts_with('#') {
            explained = true;
        } else if line.is_empty() {
            explained = false;
        } else if inside && !explained && !line.contains("path =") {
            let text = "a dependency needs a comment: what it saves, what it drags in";
            problems.push(Problem::new("Cargo.toml", index + 1, "dependency", text));
        }
    }
    problems
}

/// The page of the crates.
pub(super) const CRATES: &str = "crates/README.md";

/// Each package has a heading ``### `name` `` and a row of the table, and each such heading is a package.
pub(super) fn check_crates(text: &str, packages: &[&str]) -> Vec<Problem> {
    const FILE: &str = CRATES;
    let mut problems = Vec::new();
    let headings: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with('#'))
        .filter_map(|(index, line)| Some((index + 1, line.split('`').nth(1)?)))
        .collect();
    for name in packages.iter().filter(|name| !headings.iter().any(|(_, one)| one == *name)) {
        let text = format!("does not name crate {name} in a heading");
        problems.push(Problem::new(FILE, 0, "ghosts", text));
    }
    let has_row = |name: &str| {
        let cell = format!(" `{name}` ");
        text.lines().any(|line| line.split('|').nth(2) == Some(cell.as_str()))
    };
    for name in packages.iter().filter(|name| **name != "xtask" && !has_row(name)) {
        problems.push(Problem::new(FILE, 0, "ghosts", format!("has no row for crate {name}")));
    }
    for (line, name) in headings.iter().filter(|(_, name)| !packages.contains(name)) {
        let text = format!("names {name}, and there is no such crate");
        problems.push(Problem::new(FILE, *line, "ghosts", text));
    }
    problems
}

/// The page of what holds for all crates stays one that is read.
pub(super) fn check_architecture(text: &str) -> Vec<Problem> {
    let is_long = text.lines().count() > ARCHITECTURE_LINES_MAX;
    let problem = || {
        let text = format!("over {ARCHITECTURE_LINES_MAX} lines");
        Problem::new("ARCHITECTURE.md", 0, "length", text)
    };
    is_long.then(problem).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, floor: Option<u64>, arrows: &[(&str, bool)]) -> Package {
        let arrow = |(name, dev): &(&str, bool)| Dependency { name: (*name).to_owned(), dev: *dev };
        Package { name: name.to_owned(), floor, dependencies: arrows.iter().map(arrow).collect() }
    }

    fn texts(problems: &[Problem]) -> Vec<&str> {
        problems.iter().map(|problem| problem.text.as_str()).collect()
    }

    #[test]
    fn arrows_point_down() {
        let good = [
            package("stdx", Some(0), &[]),
            package("demo", Some(3), &[("stdx", false)]),
            package("engine", Some(3), &[("stdx", false), ("demo", true)]),
        ];
        assert_eq!(check_floors(&good), []);
        let bad = [
            package("stdx", Some(0), &[("demo", false)]),
            package("demo", Some(3), &[]),
            package("engine", Some(3), &[("demo", false)]),
            package("report", None, &[]),
        ];
        assert_eq!(
            texts(&check_floors(&bad)),
            [
                "floor 0 may not depend on demo (below only)",
                "floor 3 may not depend on demo (below only)",
                "no [package.metadata.house] floor",
            ]
        );
    }

    #[test]
    fn dependencies_say_what_they_save() {
        let text = "[workspace.dependencies]\nours = { path = \"a\" }\n# Saves much.\none = \"1\"\ntwo = \"1\"\n\nthree = \"1\"\n[x]\nfour = 1\n";
        let lines: Vec<_> = check_comments(text).iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [7]);
    }

    #[test]
    fn the_page_of_crates_names_every_crate_and_no_ghost() {
        let text = "# Title\n| 0 | `stdx` | what |\n### `stdx`, floor 0\ntext about `nothing`\n## `gone`\n";
        let problems = check_crates(text, &["stdx", "wire", "xtask"]);
        assert_eq!(
            texts(&problems),
            [
                "does not name crate wire in a heading",
                "does not name crate xtask in a heading",
                "has no row for crate wire",
                "names gone, and there is no such crate"
            ]
        );
        assert_eq!(problems[3].line, 5);
    }

    #[test]
    fn the_architecture_is_a_page_that_is_read() {
        assert_eq!(check_architecture(&"\n".repeat(200)), []);
        assert_eq!(check_architecture(&"\n".repeat(201)).len(), 1);
    }
}
