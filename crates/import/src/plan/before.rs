//! What sets variables before requests: data sets, counters, user parameters, scripts.

use jmx::{Class, Element, Property, Text};

use super::code::Code;
use super::context::Context;
use super::library::Helper;
use super::scope::is_true;
use super::value::{constant, number, shown, value, variable};
use crate::quote;

/// Writes what an iteration begins with.
pub(super) fn iteration(context: &mut Context, element: &Element, code: &mut Code) {
    match element.class {
        Class::CsvDataSet => data_set(context, element, code),
        Class::CounterConfig => counter(context, element, code),
        Class::RandomVariable => random(context, element, code),
        _ => {}
    }
}

/// Writes what stands before a request.
pub(super) fn request(context: &mut Context, element: &Element, code: &mut Code) {
    match element.class {
        Class::UserParameters => user_parameters(context, element, code),
        Class::SampleTimeout => {
            let note = context.note(element, "a request has its own timeout here");
            code.line(&note);
        }
        class if class.is_jsr223() || class.is_beanshell() => script(context, element, code),
        _ => {
            let note = context.note(element, "it is not translated");
            code.line(&note);
        }
    }
}

/// Each iteration takes the next row. Users share nothing, so the row follows from the iteration's number.
fn data_set(context: &mut Context, element: &Element, code: &mut Code) {
    let path = element.properties.written("filename").to_owned();
    let names = element.properties.written("variableNames");
    let list: Vec<String> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(quote::string)
        .collect();
    let delimiter = match element.properties.written("delimiter") {
        "" => ",".to_owned(),
        "\\t" => "\t".to_owned(),
        other => other.to_owned(),
    };
    let skips = is_true(element, "ignoreFirstLine") && !list.is_empty();
    let rest = format!("[{}], {}, {skips}", list.join(", "), quote::string(&delimiter));
    context.helper(Helper::CsvRows);
    context.imports.extend(["SharedArray", "exec"]);
    let rows = context.file(&path, "csv", |name, at| {
        format!("const {name} = new SharedArray({at}, () => csvRows(open({at}), {rest}));")
    });
    if path.contains("${") {
        let note = context.note(element, "the name of a file must be known when the script begins");
        code.line(&note);
    }
    take_row(element, &rows, code);
}

fn take_row(element: &Element, rows: &str, code: &mut Code) {
    let number = match element.properties.written("shareMode") {
        "shareMode.thread" => "exec.vu.iterationInScenario",
        _ => "exec.scenario.iterationInTest",
    };
    let recycles = element.properties.written("recycle") != "false";
    if recycles {
        return code.line(&format!("Object.assign(vars, {rows}[{number} % {rows}.length]);"));
    }
    if is_true(element, "stopThread") {
        code.line(&format!(
            "if ({number} >= {rows}.length) return; // no row is left, and JMeter ends the thread"
        ));
    }
    code.line(&format!("Object.assign(vars, {rows}[{number}] || {{}});"));
}

fn counter(context: &mut Context, element: &Element, code: &mut Code) {
    context.imports.insert("exec");
    let [start, step, end] = ["CounterConfig.start", "CounterConfig.incr", "CounterConfig.end"]
        .map(|name| constant(element.properties.text(name)));
    let number = match is_true(element, "CounterConfig.per_user") {
        true => "exec.vu.iterationInScenario",
        false => "exec.scenario.iterationInTest",
    };
    let (start, step) = (start.unwrap_or(0.0), step.unwrap_or(0.0));
    let steps = end.filter(|_| step > 0.0).map(|end| ((end - start) / step).floor() + 1.0);
    let turn = match steps {
        Some(steps) => format!("({number} % {})", shown(steps)),
        None => number.to_owned(),
    };
    let name = variable(element.properties.written("CounterConfig.name"));
    code.line(&format!("{name} = {} + {turn} * {};", shown(start), shown(step)));
}

fn random(context: &mut Context, element: &Element, code: &mut Code) {
    context.helper(Helper::RandomInteger);
    let [least, most] = ["minimumValue", "maximumValue"].map(|name| {
        let text = element.properties.text(name).cloned().unwrap_or_else(|| Text::parse("0"));
        number(context, &text)
    });
    let name = variable(element.properties.written("variableName"));
    code.line(&format!("{name} = randomInteger({least}, {most});"));
}

/// The values of each user, by its number.
fn user_parameters(context: &mut Context, element: &Element, code: &mut Code) {
    context.imports.insert("exec");
    let names: Vec<&Text> = element.properties.texts("UserParameters.names").collect();
    let lists = element.properties.list("UserParameters.thread_values");
    let mut rows = Vec::new();
    for list in lists {
        let Property::List(values) = list else { continue };
        let members = names.iter().zip(values).filter_map(|(name, one)| match one {
            Property::Text(text) => {
                Some(format!("{}: {}", quote::key(name.written()), value(context, text)))
            }
            _ => None,
        });
        rows.push(format!("{{ {} }}", members.collect::<Vec<_>>().join(", ")));
    }
    let list = rows.join(", ");
    code.line(&format!(
        "Object.assign(vars, [{list}][(exec.vu.idInTest - 1) % {}]);",
        rows.len().max(1)
    ));
}

/// A script: the assignments that are the same in JavaScript, and the rest as a comment.
pub(super) fn script(context: &mut Context, element: &Element, code: &mut Code) {
    let name = jmx::script_property(element.class, "script");
    let text = element.properties.written(name).to_owned();
    if let Some(lines) = super::groovy::lines(context, &text) {
        return lines.iter().for_each(|line| code.line(line));
    }
    let note = context.note(element, "the script is not translated; it stands here as it was");
    code.line(&note);
    text.lines().take(SCRIPT_LINES_MAX).for_each(|line| {
        code.line(format!("//   {}", quote::comment(line)).trim_end());
    });
}

/// Lines of a script that stand in a comment at most.
const SCRIPT_LINES_MAX: usize = 60;
