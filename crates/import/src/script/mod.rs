//! Writes an import as a k6 script that reads like one a colleague wrote: hosts and credentials in one place, a function for
//! each page or tag, checks, think times. Every stranger's text in it was made by `quote`.

mod body;
mod expression;
mod extraction;
mod fields;
mod library;
mod line;
mod names;
mod request;

use std::collections::BTreeSet;

use library::Helper;
use names::Names;

use crate::{Cookies, Group, Import, Step, quote};

/// How a script is written.
#[derive(Debug, Clone, Default)]
pub struct ScriptSettings {
    /// The folder of the files that the script opens, from the folder that the script will lie in; empty: the same.
    pub open_prefix: String,
}

/// The script of an import.
#[must_use]
pub fn write_script(import: &Import, settings: &ScriptSettings) -> String {
    let mut names = Names::of(import);
    let groups: Vec<&Group> =
        import.groups.iter().filter(|group| !group.steps.is_empty()).collect();
    let (functions, calls) = functions(&mut names, import, &groups);
    close_over(&mut names.helpers);
    let modules: String = names.helpers.iter().filter_map(|helper| helper.import()).collect();
    let helpers: String = names.helpers.iter().map(|helper| helper.source()).collect();

    let mut out = heading(import);
    out.push_str("import http from 'k6/http';\n");
    out.push_str(&modules);
    let body = format!("{functions}{calls}");
    out.push_str(&k6_import(&body));
    out.push('\n');
    let constants = names.constants(&settings.open_prefix);
    if !constants.is_empty() {
        out.push_str(&constants);
        out.push('\n');
    }
    out.push_str(&options(import));
    if names.has_found() {
        out.push_str(
            "\n// What answers gave for later requests of the same iteration.\nlet found = {};\n",
        );
    }
    if import.exchanges().any(|exchange| matches!(exchange.cookies, Cookies::Jar(_))) {
        out.push_str("\n// Jars that some of the requests share.\nlet jars = {};\n");
    }
    out.push('\n');
    out.push_str(&calls);
    out.push_str(&functions);
    out.push_str(&helpers);
    out
}

fn heading(import: &Import) -> String {
    let inputs: Vec<String> = import
        .inputs
        .iter()
        .map(|(name, kind)| format!("{} ({kind})", quote::comment(name)))
        .collect();
    let from =
        if inputs.is_empty() { String::new() } else { format!(" from {}", inputs.join(", ")) };
    format!("// Written by `brunt import`{from}.\n")
}

fn k6_import(body: &str) -> String {
    let used: Vec<&str> = ["check", "group", "sleep"]
        .into_iter()
        .filter(|name| body.contains(&format!("{name}(")))
        .collect();
    if used.is_empty() {
        String::new()
    } else {
        format!("import {{ {} }} from 'k6';\n", used.join(", "))
    }
}

fn options(import: &Import) -> String {
    let mut out = "export const options = {\n".to_owned();
    if import.insecure {
        out.push_str("  insecureSkipTLSVerify: true,\n");
    }
    out.push_str("  // vus: 10,\n  // duration: '5m',\n");
    out.push_str(
        "  // thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'], checks: ['rate>0.99'] },\n",
    );
    out.push_str("};\n");
    out
}

/// The functions of the groups, and the default function that calls them.
fn functions(names: &mut Names, import: &Import, groups: &[&Group]) -> (String, String) {
    let single = matches!(groups, [group] if group.name.is_empty());
    let mut functions = String::new();
    let mut calls = String::new();
    let mut needs_answer = false;
    for group in groups {
        if single || group.name.is_empty() {
            needs_answer |= has_exchange(group);
            calls.push_str(&steps(names, &group.steps, "  "));
            continue;
        }
        let name = names.unique(&quote::identifier(&group.name));
        calls.push_str(&format!("  group({}, {name});\n", quote::title(&group.name)));
        functions.push_str(&format!("\nfunction {name}() {{\n"));
        if has_exchange(group) {
            functions.push_str("  let res;\n");
        }
        functions.push_str(&steps(names, &group.steps, "  "));
        functions.push_str("}\n");
    }
    let mut default = "export default function () {\n".to_owned();
    if names.has_found() {
        default.push_str("  found = {};\n");
    }
    let jars = jar_names(import);
    if !jars.is_empty() {
        let members: Vec<String> =
            jars.iter().map(|name| format!("{}: new http.CookieJar()", quote::key(name))).collect();
        default.push_str(&format!("  jars = {{ {} }};\n", members.join(", ")));
    }
    if needs_answer {
        default.push_str("  let res;\n");
    }
    default.push_str(&calls);
    default.push_str("}\n");
    (functions, default)
}

fn has_exchange(group: &Group) -> bool {
    group.steps.iter().any(|step| matches!(step, Step::Exchange(_) | Step::Socket(_)))
}

fn jar_names(import: &Import) -> BTreeSet<&str> {
    import
        .exchanges()
        .filter_map(|exchange| match &exchange.cookies {
            Cookies::Jar(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

fn steps(names: &mut Names, steps: &[Step], indent: &str) -> String {
    let mut out = String::new();
    let mut after_request = false;
    for step in steps {
        if after_request
            && matches!(
                step,
                Step::Exchange(_) | Step::Socket(_) | Step::Batch(_) | Step::Remark(_)
            )
        {
            out.push('\n');
        }
        after_request =
            matches!(step, Step::Exchange(_) | Step::Socket(_) | Step::Batch(_) | Step::Pause(_));
        out.push_str(&one_step(names, step, indent));
    }
    out
}

fn one_step(names: &mut Names, step: &Step, indent: &str) -> String {
    match step {
        Step::Exchange(exchange) => request::exchange(names, exchange, indent),
        Step::Batch(exchanges) => {
            let inner = format!("{indent}  ");
            let entries: String = exchanges
                .iter()
                .map(|one| format!("{inner}{},\n", request::batch_entry(names, one, &inner)))
                .collect();
            format!("{indent}http.batch([\n{entries}{indent}]);\n")
        }
        Step::Assign { variable, value } => {
            let variable = names.found(variable);
            format!("{indent}{variable} = {};\n", expression::text(names, value))
        }
        Step::Socket(conversation) => request::conversation(names, conversation, indent),
        Step::Pause(time) => format!("{indent}sleep({});\n", request::seconds(*time)),
        Step::Remark(text) => format!("{indent}// {}\n", quote::comment(text)),
        Step::SetCookie { url, name, value } => {
            let url = expression::address(names, url);
            let name = quote::string(name);
            let value = expression::text(names, value);
            format!("{indent}http.cookieJar().set({url}, {name}, {value});\n")
        }
    }
}

/// Adds the helpers that helpers call.
fn close_over(helpers: &mut BTreeSet<Helper>) {
    let needed: Vec<Helper> = helpers.iter().flat_map(|helper| helper.needs()).copied().collect();
    helpers.extend(needed);
}

#[cfg(test)]
mod tests;
