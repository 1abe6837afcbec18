//! Timers as sleeps before a request.

use jmx::{Class, Element, Text};

use super::code::Code;
use super::context::Context;
use super::library::Helper;
use super::value::{constant, number, shown};

/// Writes the pauses of timers. Their times add up.
pub(super) fn write(
    context: &mut Context,
    timers: &[&Element],
    users: Option<f64>,
    code: &mut Code,
) {
    let mut times = Vec::new();
    for timer in timers {
        match timer.class {
            Class::ConstantThroughputTimer | Class::PreciseThroughputTimer => {
                pace(context, timer, users, code);
            }
            _ => times.extend(time(context, timer, code)),
        }
    }
    if times.is_empty() {
        return;
    }
    context.imports.insert("sleep");
    let sum: Option<f64> = times.iter().map(|time| time.parse::<f64>().ok()).sum();
    code.line(&match sum {
        Some(milliseconds) => format!("sleep({});", shown(milliseconds / 1_000.0)),
        None => format!("sleep(({}) / 1000);", times.join(" + ")),
    });
}

/// The milliseconds of a timer; `None` of one that is a comment.
fn time(context: &mut Context, timer: &Element, code: &mut Code) -> Option<String> {
    let property =
        |name: &str| timer.properties.text(name).cloned().unwrap_or_else(|| Text::parse("0"));
    let (delay, range) = (property("ConstantTimer.delay"), property("RandomTimer.range"));
    let delay = number(context, &delay);
    let mut range = || number(context, &range);
    Some(match timer.class {
        Class::ConstantTimer => delay,
        Class::UniformRandomTimer => format!("{delay} + Math.random() * {}", range()),
        Class::GaussianRandomTimer => {
            let range = range();
            context.helper(Helper::Gaussian);
            format!("Math.abs(gaussian() * {range} + {delay})")
        }
        Class::PoissonRandomTimer => {
            let range = range();
            context.helper(Helper::Poisson);
            format!("poisson({range}) + {delay}")
        }
        _ => {
            let note =
                context.note(timer, "a script that is a timer is not translated: no pause here");
            code.line(&note);
            return None;
        }
    })
}

/// A throughput timer holds each user back; where it is for all threads, each user gets its share.
fn pace(context: &mut Context, timer: &Element, users: Option<f64>, code: &mut Code) {
    context.helper(Helper::Pace);
    context.imports.insert("sleep");
    let Some(throughput) = timer.properties.text("throughput") else { return };
    let is_precise = timer.class == Class::PreciseThroughputTimer;
    let period = constant(timer.properties.text("throughputPeriod")).unwrap_or(3_600.0);
    let factor = if is_precise { 60.0 / period } else { 1.0 };
    let is_shared = is_precise || !matches!(timer.properties.written("calcMode"), "" | "0");
    let share = if is_shared { factor / users.unwrap_or(1.0) } else { factor };
    let rate = match constant(Some(throughput)) {
        Some(rate) => shown(rate * share),
        None => format!("{} * {}", number(context, throughput), shown(share)),
    };
    let why = match (is_precise, is_shared) {
        (true, _) => {
            "the exact count of a Precise Throughput Timer becomes an even pace, shared by all users; an arrival-rate executor offers a rate whatever the answers take"
        }
        (false, true) => {
            "the pace of all threads is shared out evenly; a constant-arrival-rate executor offers it whatever the answers take"
        }
        (false, false) => "each user is held back to this pace, as JMeter holds each thread back",
    };
    let note = context.note(timer, why);
    code.line(&note);
    code.line(&format!("pace({rate});"));
}
