//! Functions that look into responses and files: `__regexFunction`, `__XPath`, `__CSVRead`.

use crate::arguments::Arguments;
use crate::extract::{MATCHES_MAX, Template};
use crate::pattern::Pattern;
use crate::scope::{Scope, Shared};
use crate::xpath::{Names, Shape, Tree, evaluate, texts};

/// `${__regexFunction(pattern,template,which,between,default,variable,input)}`.
pub(super) fn regex(call: &Arguments, scope: &mut dyn Scope) -> String {
    let (default, name) = (call.text(4), call.text(5));
    if !name.is_empty() {
        scope.set_variable(&name, default.clone());
    }
    let input = call.text(6);
    let text = if input.is_empty() { previous_text(scope) } else { scope.variable(&input) };
    let Some(text) = text.filter(|text| !text.is_empty()) else { return default };
    let Ok(pattern) = Pattern::of(&call.text(0)) else { return default };
    let matches = pattern.matches(&text, MATCHES_MAX);
    if !name.is_empty() {
        scope.set_variable(&format!("{name}_matchNr"), matches.len().to_string());
    }
    let count = matches.len();
    let which = call.get(2).filter(|which| !which.is_empty());
    let chosen = match which.as_deref().unwrap_or("1") {
        "ALL" => 0..count,
        "RAND" if count > 0 => {
            let at = (scope.random() % count as u64) as usize;
            at..at + 1
        }
        number => {
            let at = number.parse::<usize>().ok().or_else(|| {
                let share = number.parse::<f32>().ok()?;
                Some((count as f32 * share + 0.5) as usize)
            });
            let at = at.unwrap_or(0).wrapping_sub(1);
            if at < count { at..at + 1 } else { 0..0 }
        }
    };
    if chosen.is_empty() {
        return default;
    }
    let template = Template::parse(&call.text(1));
    let mut filled = Vec::new();
    for found in &matches[chosen] {
        for (at, group) in found.groups.iter().enumerate() {
            let name = format!("{name}_g{at}");
            match group {
                Some(group) => scope.set_variable(&name, group.clone()),
                None => scope.remove_variable(&name),
            }
        }
        filled.push(template.fill(found));
        if let Some(last) = filled.last().filter(|_| !name.is_empty()) {
            scope.set_variable(&name, last.clone());
        }
    }
    filled.join(&call.text(3))
}

fn previous_text(scope: &dyn Scope) -> Option<String> {
    let mut text = None;
    scope.previous_sample(&mut |sample| text = Some(sample.text.to_owned()));
    text
}

/// A number for what has a name and is no call: counters of files.
fn number_of(kind: &str, name: &str) -> u64 {
    // FNV-1a; the highest bit keeps it apart from the numbers of calls.
    let bytes = kind.bytes().chain([0]).chain(name.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash | 1 << 63
}

/// `${__XPath(file,expression)}`: at each call the next of what is found.
pub(super) fn xpath(call: &Arguments, scope: &mut dyn Scope) -> String {
    let (path, query) = (call.text(0), call.text(1));
    let tree = scope.file(&path, "").and_then(|text| Tree::of_xml(&text).ok());
    let Some(tree) = tree else { return String::new() };
    let names = Names { namespaces: &[], ignores_namespaces: true };
    let Ok(value) = evaluate(&tree, &query, names) else { return String::new() };
    let values = texts(&tree, &value, Shape::FirstText);
    if values.is_empty() {
        return String::new();
    }
    let number = number_of("XPath", &format!("{path}\0{query}"));
    let at = scope.count(number, Shared::AllThreads).saturating_sub(1) % values.len() as u64;
    values[at as usize].clone().unwrap_or_default()
}

/// `${__CSVRead(file,column)}`: of the thread's line, which is the next of the file after `next`.
pub(super) fn csv(call: &Arguments, scope: &mut dyn Scope) -> String {
    let (file, column) = (call.text(0), call.text(1));
    if column.starts_with('*') {
        scope.set_property(&alias(&column), file);
        return String::new();
    }
    let path = match file.starts_with('*') {
        true => match scope.property(&alias(&file)) {
            Some(path) => path,
            None => return String::new(),
        },
        false => file.clone(),
    };
    let place = format!("__CSVRead.{file}");
    if column == "next" || column == "next()" {
        scope.remove_variable(&place);
        return String::new();
    }
    let Some(text) = scope.plan_file(&path, "") else { return String::new() };
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = scope.variable(&place).and_then(|at| at.parse::<usize>().ok());
    let at = match at {
        Some(at) => at,
        None => {
            let next = scope.count(number_of("CSVRead", &file), Shared::AllThreads);
            let at = (next.saturating_sub(1) % lines.len() as u64) as usize;
            scope.set_variable(&place, at.to_string());
            at
        }
    };
    let delimiter = scope.property("csvread.delimiter").filter(|text| !text.is_empty());
    let delimiter = delimiter.unwrap_or_else(|| ",".to_owned());
    let column = column.trim().parse::<usize>().ok();
    let field = lines.get(at).zip(column).and_then(|(line, at)| line.split(&*delimiter).nth(at));
    field.unwrap_or_default().to_owned()
}

fn alias(name: &str) -> String {
    format!("__CSVRead.{name}")
}
