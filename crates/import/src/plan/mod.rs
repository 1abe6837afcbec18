//! Test plans of JMeter as k6 scripts: the load model is kept, and what has no equal stands as a comment with its reason.
//!
//! ```text
//! PlanFile ─▶ group (scenario, function) ─▶ controller (blocks) ─▶ sampler ─▶ timer, before, request, extractor, assertion
//! ```

mod assertion;
mod before;
mod code;
mod context;
mod controller;
mod extractor;
mod groovy;
mod group;
mod jsonpath;
mod library;
mod sampler;
mod scope;
mod timer;
mod value;

#[cfg(test)]
mod tests;

use jmx::{Class, Element, PlanFile, Role};

pub use context::PlanNote;

use context::Context;
use group::WrittenGroup;
use scope::{Inherited, is_true};

use crate::quote;

/// A plan as a script.
#[derive(Clone, Debug)]
pub struct PlanScript {
    /// The script.
    pub text: String,
    /// What of the plan is another one there, or is not in it.
    pub notes: Vec<PlanNote>,
}

/// Writes a plan as a script. `name` is that of its file; `open_prefix` is the folder of the files that it opens, from that of the
/// script.
#[must_use]
pub fn write_plan(name: &str, plan: &PlanFile, open_prefix: &str) -> PlanScript {
    let mut context = Context::new(open_prefix);
    for known in ["vars", "http", "check", "group", "sleep", "exec", "crypto", "options"] {
        context.unique(known);
    }
    let tests = plan.elements.iter().filter(|one| one.is_enabled && one.class == Class::TestPlan);
    let mut groups = Vec::new();
    let mut variables = Vec::new();
    for test in tests {
        variables.extend(user_variables(&mut context, test));
        let scope = Inherited::default().below(test);
        if is_true(test, "TestPlan.serialize_threadgroups") {
            context.note(test, "its thread groups run one after the other; scenarios run side by side unless they have a startTime");
        }
        for one in test.enabled().filter(|one| one.class.role() == Role::Group) {
            groups.push(group::write(&mut context, &plan.elements, one, &scope));
        }
    }
    let text = assemble(name, &mut context, &groups, &variables);
    PlanScript { text, notes: context.notes }
}

/// The variables that a plan defines, as members of an object.
fn user_variables(context: &mut Context, test: &Element) -> Vec<String> {
    let own = test.properties.inner("TestPlan.user_defined_variables");
    let own = own.into_iter().flat_map(|inner| inner.elements("Arguments.arguments"));
    let mut all: Vec<_> = own.collect();
    let mut waiting = vec![test];
    while let Some(element) = waiting.pop() {
        for child in element.enabled() {
            if child.class == Class::Arguments {
                all.extend(child.properties.elements("Arguments.arguments"));
            }
            waiting.push(child);
        }
    }
    let mut members = Vec::new();
    for argument in all {
        let value = argument.text("Argument.value").cloned().unwrap_or_default();
        let value = value::value(context, &value);
        members.push(format!("{} = {value};", value::variable(argument.written("Argument.name"))));
    }
    members
}

/// Modules of k6, each with the line that imports it.
const MODULES: [(&str, &str); 4] = [
    ("http", "import http from 'k6/http';\n"),
    ("exec", "import exec from 'k6/execution';\n"),
    ("crypto", "import crypto from 'k6/crypto';\n"),
    ("SharedArray", "import { SharedArray } from 'k6/data';\n"),
];

fn assemble(
    name: &str,
    context: &mut Context,
    groups: &[WrittenGroup],
    variables: &[String],
) -> String {
    let modules = MODULES.iter().filter(|(module, _)| context.imports.contains(module));
    let modules: String = modules.map(|(_, line)| *line).collect();
    let words =
        ["check", "group", "sleep"].into_iter().filter(|word| context.imports.contains(word));
    let words: Vec<&str> = words.collect();
    let mut out = format!(
        "// Written by `brunt import` from {} (a test plan of JMeter's).\n",
        quote::comment(name)
    );
    out.push_str(&modules);
    if !words.is_empty() {
        out.push_str(&format!("import {{ {} }} from 'k6';\n", words.join(", ")));
    }
    out.push('\n');
    let constants = context.constants();
    if !constants.is_empty() {
        out.push_str(&format!("{constants}\n"));
    }
    let scenarios: String = groups.iter().map(|group| group.scenario.as_str()).collect();
    out.push_str(&format!(
        "export const options = {{\n  // JMeter checks no certificates, and keeps cookies over iterations.\n  insecureSkipTLSVerify: true,\n  noCookiesReset: true,\n  scenarios: {{\n{scenarios}  }},\n}};\n"
    ));
    out.push_str(
        "\n// The variables of this user, as JMeter's threads have them.\nconst vars = {};\n",
    );
    variables.iter().for_each(|line| out.push_str(&format!("{line}\n")));
    for group in groups {
        out.push_str(&format!("\n{}", group.function));
    }
    context.helpers.iter().for_each(|helper| out.push_str(helper.source()));
    out
}
