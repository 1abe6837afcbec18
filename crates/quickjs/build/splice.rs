//! Adds lines to a C source at places that are named by lines of the source, and refuses to guess: a line that is missing, or
//! that stands there more often than expected, is an error.

/// Lines to add to a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition {
    /// A part of the line that begins the definition (of a function or a struct) which the addition is for. Such a line is not
    /// indented, and no declaration begins with it; exactly one contains this text.
    pub(crate) definition: &'static str,
    /// The place in the definition or above it.
    pub(crate) place: Place,
    /// The lines.
    pub(crate) lines: &'static str,
}

/// Where lines are added. The text of a place is a whole line without its indentation; the definition contains it exactly once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Above the definition's first line.
    Above,
    /// Before a line.
    Before(&'static str),
    /// Before each of so many lines that read the same.
    BeforeEach(usize, &'static str),
    /// After a line.
    After(&'static str),
    /// Instead of a line.
    Instead(&'static str),
}

/// The source with all additions.
///
/// # Errors
/// A definition or a line was not found as often as expected; the message names it.
pub(crate) fn apply(source: &str, additions: &[Addition]) -> Result<String, String> {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for addition in additions {
        add(&mut lines, addition)?;
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

fn add(lines: &mut Vec<String>, addition: &Addition) -> Result<(), String> {
    let (start, end) = definition(lines, addition.definition)?;
    let new = || addition.lines.lines().map(str::to_owned);
    if let Place::Above = addition.place {
        lines.splice(start..start, new());
        return Ok(());
    }
    let (anchor, times) = match addition.place {
        Place::Above => return Ok(()),
        Place::BeforeEach(times, anchor) => (anchor, times),
        Place::Before(anchor) | Place::After(anchor) | Place::Instead(anchor) => (anchor, 1),
    };
    let found: Vec<usize> = (start..end).filter(|at| lines[*at].trim() == anchor).collect();
    if found.len() != times {
        let (found, definition) = (found.len(), addition.definition);
        return Err(format!(
            "`{anchor}` is there {found} times in `{definition}`, expected are {times}"
        ));
    }
    for at in found.into_iter().rev() {
        let range = match addition.place {
            Place::After(_) => at + 1..at + 1,
            Place::Instead(_) => at..at + 1,
            _ => at..at,
        };
        lines.splice(range, new());
    }
    Ok(())
}

/// The lines of a definition: from its first one to the next that begins with a closing brace.
fn definition(lines: &[String], text: &str) -> Result<(usize, usize), String> {
    let begins = |at: usize| {
        let line = &lines[at];
        line.contains(text)
            && !line.starts_with([' ', '\t', '#', '/'])
            && !is_declaration(&lines[at..])
    };
    let starts: Vec<usize> = (0..lines.len()).filter(|at| begins(*at)).collect();
    let [start] = starts[..] else {
        return Err(format!("{} definitions begin with `{text}`, expected is 1", starts.len()));
    };
    let length = lines[start..].iter().position(|line| line.starts_with('}'));
    let length = length.ok_or_else(|| format!("the definition `{text}` has no end"))?;
    Ok((start, start + length))
}

/// Whether lines begin with a declaration, of one line or more, rather than a definition.
fn is_declaration(lines: &[String]) -> bool {
    let end = lines.iter().find(|line| line.ends_with([';', '{']));
    end.is_some_and(|line| line.ends_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "static int one(int a);\nstatic int one(\n    int a);\n\nstatic int one(int a)\n{\n    a++;\n    return a;\n}\n\nint two(void)\n{\n    a++;\n    a++;\n    return one(1);\n}\n";

    fn check(definition: &'static str, place: Place, expect: Result<&str, &str>) {
        let addition = Addition { definition, place, lines: "    x;\n    y;" };
        let found = apply(SOURCE, &[addition]);
        assert_eq!(found.as_deref().map_err(String::as_str), expect);
    }

    #[test]
    fn lines_are_added_at_their_places() {
        let one = "static int one(int a);\nstatic int one(\n    int a);\n\n";
        let two = "\nint two(void)\n{\n    a++;\n    a++;\n    return one(1);\n}\n";
        let with = |body: &str| format!("{one}{body}\n{two}");
        for (place, body) in [
            (Place::Above, "    x;\n    y;\nstatic int one(int a)\n{\n    a++;\n    return a;\n}"),
            (
                Place::Before("a++;"),
                "static int one(int a)\n{\n    x;\n    y;\n    a++;\n    return a;\n}",
            ),
            (
                Place::After("a++;"),
                "static int one(int a)\n{\n    a++;\n    x;\n    y;\n    return a;\n}",
            ),
            (Place::Instead("a++;"), "static int one(int a)\n{\n    x;\n    y;\n    return a;\n}"),
        ] {
            check("one(", place, Ok(&with(body)));
        }
        let each = SOURCE.replace(
            "{\n    a++;\n    a++;",
            "{\n    x;\n    y;\n    a++;\n    x;\n    y;\n    a++;",
        );
        check("two(", Place::BeforeEach(2, "a++;"), Ok(&each));
    }

    #[test]
    fn what_is_missing_or_ambiguous_is_named() {
        check("three(", Place::Above, Err("0 definitions begin with `three(`, expected is 1"));
        check("int ", Place::Above, Err("2 definitions begin with `int `, expected is 1"));
        check(
            "one(",
            Place::After("b++;"),
            Err("`b++;` is there 0 times in `one(`, expected are 1"),
        );
        check(
            "two(",
            Place::After("a++;"),
            Err("`a++;` is there 2 times in `two(`, expected are 1"),
        );
        check(
            "two(",
            Place::BeforeEach(3, "a++;"),
            Err("`a++;` is there 2 times in `two(`, expected are 3"),
        );
        // A part of a line is not the line, and the search stays within the definition.
        check(
            "two(",
            Place::After("return"),
            Err("`return` is there 0 times in `two(`, expected are 1"),
        );
        check(
            "two(",
            Place::After("return a;"),
            Err("`return a;` is there 0 times in `two(`, expected are 1"),
        );
        let open = Addition { definition: "f(", place: Place::Above, lines: "" };
        assert_eq!(
            apply("int f(void)\n{\n", &[open]).unwrap_err(),
            "the definition `f(` has no end"
        );
    }
}
