//! `Threshold`: what a metric must be for a run to pass, in k6's words: `p(95)<500`, `rate>=0.99`.

use stdx::Nanos;
use thiserror::Error;

use super::{Kind, Value};

/// What of a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregation {
    /// A counter's sum.
    Count,
    /// A counter's sum per second, or a rate.
    Rate,
    /// A gauge's last value.
    Value,
    /// A trend's mean.
    Avg,
    /// A trend's least.
    Min,
    /// A trend's greatest.
    Max,
    /// A trend's median.
    Med,
    /// A trend's percentile.
    Percentile(f64),
}

/// How it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// The operators; one that starts with another precedes it.
const OPS: [(&str, Op); 7] = [
    ("<=", Op::LessOrEqual),
    (">=", Op::GreaterOrEqual),
    ("===", Op::Equal),
    ("==", Op::Equal),
    ("!=", Op::NotEqual),
    ("<", Op::Less),
    (">", Op::Greater),
];

/// What a metric must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was written.
    pub source: String,
    /// What is compared.
    pub aggregation: Aggregation,
    op: Op,
    limit: f64,
}

/// Why a text is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ThresholdError {
    /// It is not of the form `aggregation operator number`.
    #[error(
        "failed parsing threshold expression \"{0}\"; expected an aggregation method (such as p(95), rate, count), an operator and a number"
    )]
    Form(String),
    /// A metric of this type has no such aggregation.
    #[error("invalid threshold \"{0}\" for a {1} metric; it has: {2}")]
    Aggregation(String, &'static str, &'static str),
}

impl Threshold {
    /// Parses a threshold.
    ///
    /// # Errors
    /// The text is not a threshold.
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        let wrong = || ThresholdError::Form(text.to_owned());
        let found = OPS.iter().find_map(|(sign, op)| Some((text.split_once(sign)?, *op)));
        let ((aggregation, limit), op) = found.ok_or_else(wrong)?;
        let aggregation = aggregation_of(aggregation.trim()).ok_or_else(wrong)?;
        let limit: f64 = limit.trim().parse().map_err(|_| wrong())?;
        Ok(Self { source: text.to_owned(), aggregation, op, limit })
    }

    /// Whether a metric of this type has what is compared.
    ///
    /// # Errors
    /// It has not.
    pub fn suits(&self, kind: Kind) -> Result<(), ThresholdError> {
        let (suits, known) = match kind {
            Kind::Counter => {
                (matches!(self.aggregation, Aggregation::Count | Aggregation::Rate), "count, rate")
            }
            Kind::Gauge => (self.aggregation == Aggregation::Value, "value"),
            Kind::Rate => (self.aggregation == Aggregation::Rate, "rate"),
            Kind::Trend => (
                !matches!(
                    self.aggregation,
                    Aggregation::Count | Aggregation::Rate | Aggregation::Value
                ),
                "avg, min, max, med, p(N)",
            ),
        };
        if suits {
            Ok(())
        } else {
            Err(ThresholdError::Aggregation(self.source.clone(), kind.name(), known))
        }
    }

    /// What is compared, after this time of the run; `None` where there are no values.
    #[must_use]
    pub fn measure(&self, value: &Value, elapsed: Nanos) -> Option<f64> {
        if value.count() == 0 {
            return None;
        }
        let seconds = elapsed.0 as f64 / 1e9;
        Some(match (self.aggregation, value) {
            (Aggregation::Count, Value::Counter { sum, .. }) => *sum,
            (Aggregation::Rate, Value::Counter { sum, .. }) => sum / seconds.max(1e-9),
            (Aggregation::Rate, Value::Rate { passes, total }) => *passes as f64 / *total as f64,
            (Aggregation::Value, Value::Gauge { last, .. }) => *last,
            (Aggregation::Avg, Value::Trend(trend)) => trend.mean(),
            (Aggregation::Min, Value::Trend(trend)) => trend.min(),
            (Aggregation::Max, Value::Trend(trend)) => trend.max(),
            (Aggregation::Med, Value::Trend(trend)) => trend.percentile(50.0),
            (Aggregation::Percentile(p), Value::Trend(trend)) => trend.percentile(p),
            _ => return None,
        })
    }

    /// Whether a figure is as it must be.
    #[must_use]
    pub fn holds(&self, figure: f64) -> bool {
        match self.op {
            Op::Less => figure < self.limit,
            Op::LessOrEqual => figure <= self.limit,
            Op::Greater => figure > self.limit,
            Op::GreaterOrEqual => figure >= self.limit,
            Op::Equal => (figure - self.limit).abs() < f64::EPSILON,
            Op::NotEqual => (figure - self.limit).abs() >= f64::EPSILON,
        }
    }
}

fn aggregation_of(text: &str) -> Option<Aggregation> {
    Some(match text {
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "value" => Aggregation::Value,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "max" => Aggregation::Max,
        "med" => Aggregation::Med,
        _ => {
            let p: f64 = text.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
            (0.0..=100.0).contains(&p).then_some(Aggregation::Percentile(p))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_and_judged() {
        let mut trend = Value::new(Kind::Trend);
        (1..=100).for_each(|n| trend.add(f64::from(n)));
        let mut counter = Value::new(Kind::Counter);
        (0..10).for_each(|_| counter.add(2.0));
        let mut rate = Value::new(Kind::Rate);
        [1.0, 0.0, 1.0, 1.0].into_iter().for_each(|n| rate.add(n));
        let cases = [
            ("p(95)<96", &trend, true),
            ("p(95) < 95", &trend, false),
            ("med<=51", &trend, true),
            ("max==100", &trend, true),
            ("count>=20", &counter, true),
            ("rate<1.9", &counter, false),
            ("rate>0.7", &rate, true),
            ("rate!=0.75", &rate, false),
        ];
        for (text, value, expect) in cases {
            let threshold = Threshold::parse(text).unwrap();
            threshold.suits(value.kind()).unwrap();
            let figure = threshold.measure(value, Nanos::from_secs(10)).unwrap();
            assert_eq!(threshold.holds(figure), expect, "{text}: {figure}");
        }
        for text in ["", "p(95)", "p(101)<5", "p95<5", "rate>x", "<5", "rate=5", "p( 95 )<1"] {
            assert!(Threshold::parse(text).is_err(), "{text}");
        }
        assert!(Threshold::parse("rate>1").unwrap().suits(Kind::Trend).is_err());
        assert_eq!(
            Threshold::parse("avg<1").unwrap().measure(&Value::new(Kind::Trend), Nanos::SECOND),
            None
        );
    }
}
