//! `LateQuantile`: a response quantile beside what it would have been had the generator been on time.

use stdx::{Nanos, list_and};

use crate::{Generator, Summary};

/// The response quantiles that every report prints, and that late starts are judged by.
pub const JUDGED: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// A response quantile may exceed the same quantile without the generator's own lag by this share: 5 %.
pub const LAG_SHARE_MAX: f64 = 0.05;
/// A response quantile may always exceed it by this much: 100 µs, what a thread of a busy machine takes to wake up.
pub const LAG_FLOOR: Nanos = Nanos::from_micros(100);
/// By so much late wake-ups may raise a quantile of the slowest requests with no more than a remark: on an idle virtual machine one
/// wake-up in a hundred is 1 ms late, and one in a thousand 3.5 ms (`brunt jitter`). Whether that changes a gate or a step of a
/// search is asked there.
pub(super) const JITTER: [(f64, Nanos); 2] = [(0.95, Nanos::MILLI), (0.99, Nanos::from_millis(5))];
/// Hits that were not answered when the record was written, and rows that were not written, make the counts of
/// [`Generator::on_time`] and of the summary differ; by more than this share they cannot be compared.
const COUNTS_SHARE_MAX: f64 = 0.01;

/// A response quantile, and what it would have been without the generator's own lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateQuantile {
    /// The share of hits, 0 to 1.
    pub q: f64,
    /// The response time that a report prints.
    pub response: Nanos,
    /// The same quantile of [`Generator::on_time`].
    pub on_time: Nanos,
    /// Late starts raised it by more than [`LAG_SHARE_MAX`], [`LAG_FLOOR`] and the pacing's tick.
    pub raised: bool,
}

impl LateQuantile {
    fn new(q: f64, summary: &Summary, generator: &Generator) -> Self {
        let (response, on_time) = (summary.response.quantile(q), generator.on_time.quantile(q));
        let share = Nanos((LAG_SHARE_MAX * on_time.0 as f64) as u64);
        let tolerance = share.max(LAG_FLOOR).max(generator.tick);
        Self { q, response, on_time, raised: response.saturating_sub(on_time) > tolerance }
    }

    /// Raised, and by no more than the late wake-ups of an idle machine may raise the slowest requests.
    fn is_jitter(&self) -> bool {
        let excess = self.response.saturating_sub(self.on_time);
        self.raised && JITTER.iter().any(|(q, most)| *q == self.q && excess <= *most)
    }

    /// Its name in reports: `p99`.
    fn name(&self) -> String {
        format!("p{}", self.q * 100.0)
    }
}

/// The quantiles, where nothing but late wake-ups raised any. A closed loop has no late starts: it reads answers late.
pub(super) fn jitter(summary: &Summary, generator: &Generator) -> Vec<LateQuantile> {
    let quantiles = late_quantiles(summary, generator);
    let raised = || quantiles.iter().filter(|quantile| quantile.raised);
    let is_jitter = is_open(generator)
        && knows_on_time(summary, generator)
        && raised().next().is_some()
        && raised().all(LateQuantile::is_jitter);
    if is_jitter { quantiles.to_vec() } else { Vec::new() }
}

/// Users do not set the pace, but a rate or a script.
pub(super) fn is_open(generator: &Generator) -> bool {
    generator.users == 0 || generator.self_paced
}

pub(super) fn late_quantiles(
    summary: &Summary,
    generator: &Generator,
) -> [LateQuantile; JUDGED.len()] {
    JUDGED.map(|q| LateQuantile::new(q, summary, generator))
}

/// Whether [`Generator::on_time`] is of the hits in the summary.
pub(crate) fn knows_on_time(summary: &Summary, generator: &Generator) -> bool {
    let (all, known) = (summary.response.count(), generator.on_time.count());
    known > 0 && all.abs_diff(known) as f64 <= COUNTS_SHARE_MAX * all as f64
}

/// `late starts raised p90 from 170µs to 620µs and p99 from 910µs to 3.3ms; p50 is good, and so is service time`.
pub(super) fn raised_by(cause: &str, quantiles: &[LateQuantile], is_service_good: bool) -> String {
    let (raised, good): (Vec<&LateQuantile>, Vec<&LateQuantile>) =
        quantiles.iter().partition(|quantile| quantile.raised);
    let raised: Vec<String> = raised
        .into_iter()
        .map(|quantile| {
            let (from, to) =
                (quantile.on_time.to_three_digits(), quantile.response.to_three_digits());
            format!("{} from {from} to {to}", quantile.name())
        })
        .collect();
    let raised = format!("{cause} raised {}", list_and(&raised));
    let good: Vec<String> = good.into_iter().map(LateQuantile::name).collect();
    let good = match good.len() {
        0 => None,
        1 => Some(format!("{} is good", good[0])),
        _ => Some(format!("{} are good", list_and(&good))),
    };
    match (good, is_service_good) {
        (None, false) => raised,
        (None, true) => format!("{raised}; service time is good"),
        (Some(good), false) => format!("{raised}; {good}"),
        (Some(good), true) => format!("{raised}; {good}, and so is service time"),
    }
}
