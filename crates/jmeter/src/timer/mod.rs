//! Timers: how long a sampler waits.

pub(crate) mod pace;
mod throughput;

use jmx::Class;
use stdx::Nanos;

use crate::plan::node::{Part, SamplerNode};
use crate::script;
use crate::thread::scope::Thread;

/// The longest delay of a timer: a year.
const DELAY_MAX_MS: f64 = 365.0 * 86_400_000.0;

/// How long a sampler waits: all timers in its scope together.
pub(crate) fn delay(node: &SamplerNode, thread: &mut Thread) -> Nanos {
    let mut sum = 0.0;
    for part in &node.timers {
        sum += of(part, node, thread);
    }
    Nanos((sum.clamp(0.0, DELAY_MAX_MS) * 1e6) as u64)
}

/// The delay of one timer in milliseconds.
fn of(part: &Part, node: &SamplerNode, thread: &mut Thread) -> f64 {
    match part.class() {
        Class::ConstantTimer => whole(thread.number_of(part, "ConstantTimer.delay")),
        Class::UniformRandomTimer | Class::GaussianRandomTimer | Class::PoissonRandomTimer => {
            let delay = whole(random(part, thread));
            scaled(delay, thread)
        }
        Class::ConstantThroughputTimer => throughput::constant(part, thread),
        Class::PreciseThroughputTimer => throughput::precise(part, thread),
        class if script::is_script(class) => script::delay_ms(part, node, thread) as f64,
        _ => 0.0,
    }
}

/// The delay of a timer by chance.
fn random(part: &Part, thread: &mut Thread) -> f64 {
    let range = thread.number_of(part, "RandomTimer.range");
    let delay = thread.number_of(part, "ConstantTimer.delay");
    match part.class() {
        Class::UniformRandomTimer => range * thread.random.unit() + delay,
        Class::GaussianRandomTimer => (range * thread.random.gaussian() + delay).abs(),
        _ => poisson(range, thread) + delay,
    }
}

/// JMeter's delays are whole milliseconds.
fn whole(delay: f64) -> f64 {
    delay.max(0.0).floor()
}

/// `timer.factor` stretches random timers.
fn scaled(delay: f64, thread: &Thread) -> f64 {
    let factor = thread.world.property("timer.factor");
    let factor: f64 = factor.and_then(|text| text.trim().parse().ok()).unwrap_or(1.0);
    if factor > 0.0 { delay * factor } else { delay }
}

/// A number of the Poisson distribution of this mean; of large means by the normal one.
fn poisson(mean: f64, thread: &mut Thread) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    if mean > 500.0 {
        return (mean + mean.sqrt() * thread.random.gaussian()).round().max(0.0);
    }
    let limit = (-mean).exp();
    let (mut product, mut count) = (thread.random.unit(), 0.0);
    while product > limit {
        product *= thread.random.unit();
        count += 1.0;
    }
    count
}
