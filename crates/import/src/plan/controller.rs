//! Controllers as blocks of code.

use jmx::{Class, Element, Role, Text, TextPiece, module_target};

use super::code::Code;
use super::context::Context;
use super::groovy::condition;
use super::library::Helper;
use super::sampler;
use super::scope::{Inherited, is_true};
use super::value::{constant, number, shown, value, variable};
use crate::{DEPTH_MAX, quote};

/// What all of a tree's parts need: the whole plan, and how many users run it.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a> {
    pub(super) plan: &'a [Element],
    pub(super) users: Option<f64>,
}

/// Writes what stands below an element.
pub(super) fn children(
    context: &mut Context,
    tree: Tree<'_>,
    element: &Element,
    above: &Inherited<'_>,
    code: &mut Code,
) {
    let scope = above.below(element);
    for child in element.enabled() {
        match child.class.role() {
            Role::Sampler => sampler::write(context, child, &scope, tree.users, code),
            Role::Controller => controller(context, tree, child, &scope, code),
            _ => {}
        }
    }
}

fn controller(
    context: &mut Context,
    tree: Tree<'_>,
    element: &Element,
    scope: &Inherited<'_>,
    code: &mut Code,
) {
    code.space();
    let block =
        |context: &mut Context, code: &mut Code| children(context, tree, element, scope, code);
    match element.class {
        Class::GenericController | Class::RecordingController | Class::TestFragment => {
            code.line(&format!("// {}", quote::comment(element.name.written())));
            block(context, code);
        }
        Class::TransactionController => {
            context.imports.insert("group");
            code.open(&format!("group({}, () => {{", value(context, &element.name)));
            block(context, code);
            code.close("});");
        }
        Class::IncludeController | Class::ModuleController => {
            module(context, tree, element, scope, code);
        }
        Class::InterleaveControl
        | Class::RandomController
        | Class::RandomOrderController
        | Class::SwitchController => choice(context, tree, element, scope, code),
        Class::CriticalSection => {
            let note =
                context.note(element, "users share nothing here: nothing locks them out of it");
            code.line(&note);
            block(context, code);
        }
        _ => {
            let head = head(context, element, code);
            code.open(&head);
            if element.class == Class::ForeachController {
                foreach_value(context, element, code);
            }
            block(context, code);
            code.close("}");
        }
    }
}

/// The line that opens the block of a controller.
fn head(context: &mut Context, element: &Element, code: &mut Code) -> String {
    match element.class {
        Class::LoopController => repeat(context, element, code),
        Class::IfController => format!("if ({}) {{", if_condition(context, element, code)),
        Class::WhileController => format!("while ({}) {{", while_condition(context, element, code)),
        Class::OnceOnlyController => {
            context.imports.insert("exec");
            "if (exec.vu.iterationInScenario === 0) {".to_owned()
        }
        Class::RunTime => {
            let seconds = text(element, "RunTime.seconds");
            format!(
                "for (const end = Date.now() + 1000 * {}; Date.now() < end;) {{",
                number(context, &seconds)
            )
        }
        Class::ThroughputController => throughput(context, element, code),
        Class::ForeachController => foreach(context, element),
        _ => "{".to_owned(),
    }
}

fn text(element: &Element, name: &str) -> Text {
    element.properties.text(name).cloned().unwrap_or_default()
}

fn repeat(context: &mut Context, element: &Element, code: &mut Code) -> String {
    if element.properties.written("LoopController.loops").trim() == "-1" {
        let note = context.note(element, "it never ends: the scenario's time ends it");
        code.line(&note);
        return "for (;;) {".to_owned();
    }
    let count = number(context, &text(element, "LoopController.loops"));
    let name = context.loop_name();
    format!("for (let {name} = 0; {name} < {count}; {name} += 1) {{")
}

/// A condition that a function of a language has, or is written in JavaScript.
fn script_of(text: &Text) -> Option<String> {
    match text.pieces().as_slice() {
        [
            TextPiece::Call {
                name: "__groovy" | "__jexl3" | "__jexl2" | "__javaScript" | "__BeanShell",
                arguments,
            },
        ] => Some(arguments.first()?.written().replace("\\,", ",")),
        _ => None,
    }
}

fn if_condition(context: &mut Context, element: &Element, code: &mut Code) -> String {
    let condition_text = text(element, "IfController.condition");
    let is_expression = is_true(element, "IfController.useExpression");
    let script = if is_expression {
        script_of(&condition_text)
    } else {
        Some(condition_text.written().to_owned())
    };
    let translated = match script {
        Some(script) => condition(&script),
        None => {
            Some(format!("String({}).toLowerCase() === 'true'", value(context, &condition_text)))
        }
    };
    // What it guards runs, and the note says so.
    translated.unwrap_or_else(|| {
        untranslated(context, element, "holds always here", code);
        "true".to_owned()
    })
}

/// Notes that a condition is not understood, and what it does instead.
fn untranslated(context: &mut Context, element: &Element, instead: &str, code: &mut Code) {
    let name = match element.class {
        Class::WhileController => "WhileController.condition",
        _ => "IfController.condition",
    };
    let written = element.properties.written(name);
    let why = format!("the condition is not translated, and {instead}: {written}");
    let note = context.note(element, stdx::cut_text(&why, 300).into_owned());
    code.line(&note);
}

fn while_condition(context: &mut Context, element: &Element, code: &mut Code) -> String {
    let condition_text = text(element, "WhileController.condition");
    let written = condition_text.written().trim().to_owned();
    if matches!(written.as_str(), "" | "LAST") {
        return "res === undefined || res.status < 400".to_owned();
    }
    match script_of(&condition_text) {
        Some(script) => condition(&script).unwrap_or_else(|| {
            // A loop that always holds would never end.
            untranslated(context, element, "holds never here, so the loop is left out", code);
            "false".to_owned()
        }),
        None => format!("String({}).toLowerCase() !== 'false'", value(context, &condition_text)),
    }
}

fn throughput(context: &mut Context, element: &Element, code: &mut Code) -> String {
    let is_percent = element.properties.written("ThroughputController.style") == "1";
    if is_percent {
        let note = context.note(
            element,
            "so many of a hundred iterations, drawn at random; JMeter counts them off",
        );
        code.line(&note);
        let percent = text(element, "ThroughputController.percentThroughput");
        return format!("if (Math.random() * 100 < {}) {{", number(context, &percent));
    }
    context.imports.insert("exec");
    let most = number(context, &text(element, "ThroughputController.maxThroughput"));
    format!("if (exec.scenario.iterationInTest < {most}) {{")
}

fn foreach(context: &mut Context, element: &Element) -> String {
    let (start, end) = (
        constant(element.properties.text("ForeachController.startIndex")).unwrap_or(0.0),
        constant(element.properties.text("ForeachController.endIndex")),
    );
    let name = context.loop_name();
    let member = foreach_member(context, element, &name);
    let until = end.map_or_else(String::new, |end| format!("{name} <= {} && ", shown(end)));
    format!(
        "for (let {name} = {}; {until}{member} !== undefined; {name} += 1) {{",
        shown(start + 1.0)
    )
}

fn foreach_member(context: &mut Context, element: &Element, name: &str) -> String {
    let separator = if element.properties.written("ForeachController.useSeparator") == "false" {
        ""
    } else {
        "_"
    };
    let input = text(element, "ForeachController.inputVal");
    match input.is_constant() {
        true => format!("vars[`{}{separator}${{{name}}}`]", quote::template_part(input.written())),
        false => format!("vars[`${{{}}}{separator}${{{name}}}`]", value(context, &input)),
    }
}

/// The variable that has each value in its turn.
fn foreach_value(context: &mut Context, element: &Element, code: &mut Code) {
    let name = context.last_loop_name();
    let member = foreach_member(context, element, &name);
    let output = variable(element.properties.written("ForeachController.returnVal"));
    code.line(&format!("{output} = {member};"));
}

/// A controller that runs one of its children, or all of them in another order.
fn choice(
    context: &mut Context,
    tree: Tree<'_>,
    element: &Element,
    above: &Inherited<'_>,
    code: &mut Code,
) {
    let scope = above.below(element);
    let runs = |child: &&Element| matches!(child.class.role(), Role::Sampler | Role::Controller);
    let list: Vec<&Element> = element.enabled().filter(runs).collect();
    if list.is_empty() {
        return;
    }
    let is_order = element.class == Class::RandomOrderController;
    let head = choice_head(context, element, list.len());
    code.open(&head);
    for (at, child) in list.into_iter().enumerate() {
        code.open(&match (is_order, element.class) {
            (true, _) => "() => {".to_owned(),
            (_, Class::SwitchController) => {
                format!("case '{at}': case {}: {{", value(context, &child.name))
            }
            _ => format!("case {at}: {{"),
        });
        match child.class.role() {
            Role::Sampler => sampler::write(context, child, &scope, tree.users, code),
            _ => controller(context, tree, child, &scope, code),
        }
        if !is_order {
            code.line("break;");
        }
        code.close(if is_order { "}," } else { "}" });
    }
    code.close(if is_order { "]).forEach((step) => step());" } else { "}" });
}

fn choice_head(context: &mut Context, element: &Element, count: usize) -> String {
    match element.class {
        Class::RandomOrderController => {
            context.helper(Helper::Shuffled);
            "shuffled([".to_owned()
        }
        Class::RandomController => format!("switch (Math.floor(Math.random() * {count})) {{"),
        Class::SwitchController => {
            let wanted = text(element, "SwitchController.value");
            format!("switch (String({}) || '0') {{", value(context, &wanted))
        }
        _ => {
            context.imports.insert("exec");
            format!("switch (exec.vu.iterationInScenario % {count}) {{")
        }
    }
}

/// How many elements modules may put into a script. Modules in modules, two in each, double with every level.
const MODULE_ELEMENTS_MAX: usize = 20_000;

/// An element and all that takes part below it, modules counted as themselves.
fn size(element: &Element) -> usize {
    1 + element.enabled().map(size).sum::<usize>()
}

/// The part of the plan that a Module controller names, in its place.
fn module(
    context: &mut Context,
    tree: Tree<'_>,
    element: &Element,
    scope: &Inherited<'_>,
    code: &mut Code,
) {
    let Some(target) = module_target(tree.plan, element) else {
        let note = context
            .note(element, "the part of the plan that it names is in another file, or not there");
        return code.line(&note);
    };
    let path = target.path.to_string();
    if context.modules.contains(&path) {
        let note = context.note(element, "it contains itself");
        return code.line(&note);
    }
    context.module_elements += size(target);
    if context.modules.len() >= DEPTH_MAX || context.module_elements > MODULE_ELEMENTS_MAX {
        let note = context.note(element, format!("left out: modules in each other go {DEPTH_MAX} deep, and have {MODULE_ELEMENTS_MAX} elements together at most"));
        return code.line(&note);
    }
    context.modules.push(path);
    match target.class.role() {
        Role::Controller => controller(context, tree, target, scope, code),
        _ => children(context, tree, target, scope, code),
    }
    context.modules.pop();
}
