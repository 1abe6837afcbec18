//! `Step`: one run at one load as the search sees it.

use stdx::Nanos;

/// What one run at one load showed, its warm-up left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Hits per second asked for, or connections.
    pub load: f64,
    /// Hits that count.
    pub hits: u64,
    /// For each condition of the objective: the share of hits on its wrong side (0 to 1), or the mean in nanoseconds.
    pub figures: Vec<f64>,
    /// Hits ended with success per second, while it was measured.
    pub achieved_per_s: f64,
    /// Mean response time.
    pub mean: Nanos,
    /// Response time of 50 of 100 hits.
    pub p50: Nanos,
    /// Response time of 95 of 100 hits.
    pub p95: Nanos,
    /// Response time of 99 of 100 hits.
    pub p99: Nanos,
    /// Share of hits not answered with a status in 200..400.
    pub errors: f64,
    /// How much of the run's beginning was left out.
    pub warmup: Nanos,
    /// How much was measured after it.
    pub measured: Nanos,
    /// It was ended early, since the objective was plainly missed.
    pub cut: bool,
    /// Why its figures say nothing of the server: the generator's reasons.
    pub spoilt: Option<String>,
}

/// The load with the most power, throughput by mean response time (Kleinrock, Power and deterministic rules of thumb for
/// probabilistic problems in computer communications, 1979): below it a server is idle, above it its queue grows faster than
/// what it does. `None` without a valid step. Of one load's runs the means count.
#[must_use]
pub fn knee(steps: &[Step]) -> Option<f64> {
    let valid = steps.iter().filter(|step| step.spoilt.is_none() && step.mean > Nanos::ZERO);
    let mut powers: Vec<(f64, f64, f64)> = Vec::new();
    for step in valid {
        let power = step.achieved_per_s / step.mean.as_secs_f64();
        match powers.iter_mut().find(|(load, ..)| *load == step.load) {
            Some((_, sum, runs)) => (*sum, *runs) = (*sum + power, *runs + 1.0),
            None => powers.push((step.load, power, 1.0)),
        }
    }
    let mean = |(_, sum, runs): &(f64, f64, f64)| sum / runs;
    powers.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).map(|(load, ..)| *load)
}
