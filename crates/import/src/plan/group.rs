//! Thread groups: each is a scenario, and the function that its users run.

use jmx::{Class, Element, Role, Text};

use super::before;
use super::code::Code;
use super::context::Context;
use super::controller::{Tree, children};
use super::library::Helper;
use super::scope::{Inherited, is_true};
use super::value::{constant, number, shown};
use crate::quote;

/// A thread group as it is written.
pub(super) struct WrittenGroup {
    /// Its member of `scenarios`; empty of groups before and after the test.
    pub(super) scenario: String,
    /// Its function.
    pub(super) function: String,
}

/// Writes a thread group.
pub(super) fn write(
    context: &mut Context,
    plan: &[Element],
    element: &Element,
    above: &Inherited<'_>,
) -> WrittenGroup {
    let name = match element.class {
        Class::SetupThreadGroup => context.unique("setup"),
        Class::PostThreadGroup => context.unique("teardown"),
        _ => context.unique(&quote::identifier(element.name.written())),
    };
    let threads = element.properties.text("ThreadGroup.num_threads").cloned();
    let users = constant(threads.as_ref());
    let mut body = Code::at(1);
    let scenario = match element.class {
        Class::SetupThreadGroup | Class::PostThreadGroup => {
            if users.is_some_and(|users| users > 1.0) {
                let note = context.note(element, "setup and teardown run once, for one user");
                body.line(&note);
            }
            String::new()
        }
        Class::ThreadGroup => scenario(context, element, &name, &mut body),
        _ => arrivals(context, element, &name, &mut body),
    };
    let scope = above.below(element);
    for config in scope.of_role(Role::Config) {
        before::iteration(context, config, &mut body);
    }
    nested(context, element, &mut body);
    children(context, Tree { plan, users }, element, above, &mut body);
    let mut code = Code::default();
    code.open(&format!("export function {name}() {{"));
    let body = body.into_text();
    if body.contains("res = ") || body.contains("res.") || body.contains("(res") {
        code.line("let res;");
    }
    code.append(&body);
    code.close("}");
    WrittenGroup { scenario, function: code.into_text() }
}

/// Data sets deeper in a group are read once an iteration as well.
fn nested(context: &mut Context, element: &Element, code: &mut Code) {
    for child in element
        .enabled()
        .filter(|child| matches!(child.class.role(), Role::Controller | Role::Sampler))
    {
        for config in child.enabled().filter(|one| one.class.role() == Role::Config) {
            before::iteration(context, config, code);
        }
        nested(context, child, code);
    }
}

/// How long a plan without an end runs here, in seconds.
const ENDLESS_S: f64 = 86_400.0;

fn scenario(context: &mut Context, element: &Element, name: &str, body: &mut Code) -> String {
    let text = |name: &str| element.properties.text(name).cloned().unwrap_or_default();
    let loops = element.properties.inner("ThreadGroup.main_controller");
    let loops = loops
        .and_then(|inner| inner.text("LoopController.loops"))
        .cloned()
        .unwrap_or_else(|| Text::parse("1"));
    let users = number(context, &text("ThreadGroup.num_threads"));
    let ramp = number(context, &text("ThreadGroup.ramp_time"));
    let is_scheduled = is_true(element, "ThreadGroup.scheduler");
    let duration = is_scheduled.then(|| number(context, &text("ThreadGroup.duration")));
    let delay = is_scheduled
        .then(|| number(context, &text("ThreadGroup.delay")))
        .filter(|delay| delay != "0");
    let start = delay.map_or_else(String::new, |delay| format!(", startTime: {}", seconds(&delay)));
    let is_endless = loops.written().trim() == "-1";
    if is_endless && duration.is_none() {
        context.note(element, "JMeter runs it until it is stopped; here it ends after a day");
    }
    let time = duration.unwrap_or_else(|| shown(ENDLESS_S));
    let shape = if is_endless {
        steady(&users, &ramp, &time)
    } else {
        if ramp != "0" {
            context.helper(Helper::RampUp);
            context.imports.extend(["exec", "sleep"]);
            body.line(&format!("rampUp({ramp}, {users});"));
        }
        let loops = number(context, &loops);
        format!(
            "executor: 'per-vu-iterations', vus: {users}, iterations: {loops}, maxDuration: {}",
            seconds(&time)
        )
    };
    failing(context, element);
    format!("    {name}: {{ exec: '{name}', {shape}{start} }},\n")
}

/// Threads that start one after the other and run until a time: one more user each ramp-up / threads.
fn steady(users: &str, ramp: &str, time: &str) -> String {
    let numbers = (users.parse::<f64>(), ramp.parse::<f64>(), time.parse::<f64>());
    if let (Ok(users), Ok(ramp), Ok(time)) = numbers {
        let rise = if users > 0.0 { ramp * (users - 1.0) / users } else { 0.0 };
        let rest = (time - rise).max(0.0);
        let first = if rise > 0.0 { 1.0 } else { users };
        let rising = if rise > 0.0 {
            format!("{{ duration: '{}s', target: {users} }}, ", shown(rise))
        } else {
            String::new()
        };
        return format!(
            "executor: 'ramping-vus', startVUs: {}, stages: [{rising}{{ duration: '{}s', target: {users} }}]",
            shown(first),
            shown(rest)
        );
    }
    let rise = format!("({ramp}) * (({users}) - 1) / ({users})");
    format!(
        "executor: 'ramping-vus', startVUs: 1, stages: [{{ duration: `${{{rise}}}s`, target: {users} }}, {{ duration: `${{({time}) - {rise}}}s`, target: {users} }}]"
    )
}

fn seconds(number: &str) -> String {
    match number.parse::<f64>() {
        Ok(number) => format!("'{}s'", shown(number)),
        Err(_) => format!("`${{{number}}}s`"),
    }
}

fn failing(context: &mut Context, element: &Element) {
    let wanted = element.properties.written("ThreadGroup.on_sample_error");
    if !matches!(wanted, "" | "continue") {
        context.note(
            element,
            format!("\"{wanted}\" after a failed sample is not translated: iterations go on"),
        );
    }
}

/// Groups whose load is an arrival rate or steps of threads of a plug-in.
fn arrivals(context: &mut Context, element: &Element, name: &str, body: &mut Code) -> String {
    let schedule = element.properties.written("OpenModelThreadGroup.schedule").to_owned();
    let note = context.note(element, format!(
        "its schedule {schedule} becomes one steady stage: write it as stages of ramping-arrival-rate or ramping-vus"
    ));
    body.line(&note);
    format!(
        "    {name}: {{ exec: '{name}', executor: 'constant-arrival-rate', rate: 1, timeUnit: '1s', duration: '1m', preAllocatedVUs: 50 }},\n"
    )
}
