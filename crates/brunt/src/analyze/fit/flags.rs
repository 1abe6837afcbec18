//! The flags of `fit`.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Nanos;
use study::scaling::LOAD_MAX;

/// The flags of `fit` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FitFlags {
    /// `users` or `rate`; `None` where the results say.
    pub(crate) by: Option<String>,
    /// A model's name; `None` for the best.
    pub(crate) model: Option<String>,
    pub(crate) at: Vec<f64>,
    pub(crate) points: Vec<Point>,
    pub(crate) output: Option<String>,
    pub(crate) plot: Option<String>,
    pub(crate) json: bool,
    pub(crate) seed: u64,
}

/// A measurement from elsewhere: `-point '16:X=33,mean=485ms,p50=450ms'`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// Users, or requests per second.
    pub(crate) load: f64,
    /// Answers per second.
    pub(crate) throughput_per_s: Option<f64>,
    pub(crate) mean: Option<Nanos>,
    pub(crate) p50: Option<Nanos>,
    pub(crate) p99: Option<Nanos>,
}

/// The flags of `fit`.
pub(crate) const FIT: &[Flag<FitFlags>] = &[
    Flag::new(
        "by",
        ValueKind::Choice(LOADS),
        "",
        "Unit of the loads; by default that of the results.",
        |t: &mut FitFlags, v| value::word(v, LOADS).map(|word| t.by = Some(word)),
    )
    .native(),
    Flag::new(
        "at",
        ValueKind::Text("LOAD,…"),
        "",
        "Also predict these loads: users, or requests per second.",
        |t: &mut FitFlags, v| {
            let loads = v.split(',').map(load).collect::<Result<Vec<f64>, ValueError>>()?;
            t.at.extend(loads);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "point",
        ValueKind::Text("LOAD:X=N,mean=TIME,…"),
        "",
        "A measurement of another program (X: requests per second; mean, p50, p99); may be repeated.",
        |t: &mut FitFlags, v| point(v).map(|point| t.points.push(point)),
    )
    .native(),
    Flag::new(
        "model",
        ValueKind::Choice(MODELS),
        "",
        "Fit only this model (users: closed, usl; rates: mmc, mgc); by default the one with the lowest AICc.",
        |t: &mut FitFlags, v| value::word(v, MODELS).map(|word| t.model = Some(word)),
    )
    .native(),
    Flag::new(
        "plot",
        ValueKind::Path,
        "",
        "Plot measured and predicted values into this file: .html, .svg or .png.",
        |t: &mut FitFlags, v| {
            t.plot = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new("output", ValueKind::Path, "stdout", "File for the fit.", |t: &mut FitFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"])
    .native(),
    Flag::new("json", ValueKind::Switch, "", "Print one line of JSON.", |t: &mut FitFlags, v| {
        value::switch(v).map(|on| t.json = on)
    })
    .native(),
    Flag::new(
        "seed",
        ValueKind::Text("N"),
        "0",
        "Seed of the intervals' random draws.",
        |t: &mut FitFlags, v| value::number(v).map(|seed| t.seed = seed),
    )
    .native(),
];

/// What a load may be.
const LOADS: &[&str] = &["users", "rate"];

/// The models by name.
const MODELS: &[&str] = &["closed", "mmc", "mgc", "usl"];

/// A load: above 0.
fn load(text: &str) -> Result<f64, ValueError> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|load| *load > 0.0 && *load <= LOAD_MAX).ok_or_else(|| {
        ValueError::new(format!(
            "\"{text}\" is not a load (expected a number above 0, at most {LOAD_MAX})"
        ))
    })
}

/// `LOAD:NAME=VALUE,…`
fn point(text: &str) -> Result<Point, ValueError> {
    let wrong =
        || ValueError::new(format!("\"{text}\" is not LOAD:X=N,mean=TIME,p50=TIME,p99=TIME"));
    let (load, list) = text.split_once(':').ok_or_else(wrong)?;
    let mut point = Point { load: self::load(load)?, ..Point::default() };
    for pair in list.split(',') {
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let time = || {
            let time = value::duration(value.trim())?;
            if time > Nanos::ZERO { Ok(Some(time)) } else { Err(wrong()) }
        };
        match name.trim() {
            "X" | "x" => {
                let number = value.trim().trim_end_matches("/s").parse::<f64>().ok();
                let number = number.filter(|number| *number > 0.0 && number.is_finite());
                point.throughput_per_s = Some(number.ok_or_else(wrong)?);
            }
            "mean" => point.mean = time()?,
            "p50" => point.p50 = time()?,
            "p99" => point.p99 = time()?,
            _ => return Err(wrong()),
        }
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_from_elsewhere() {
        let sixteen = point("16:X=33/s, p50=450ms, p99=1.3s").unwrap();
        assert_eq!(
            (sixteen.load, sixteen.throughput_per_s, sixteen.mean),
            (16.0, Some(33.0), None)
        );
        assert_eq!(sixteen.p50, Some(Nanos::from_millis(450)));
        for text in [
            "",
            "16",
            "16:",
            "x:X=1",
            "0:X=1",
            "1:X=0",
            "1:X=inf",
            "1:mean=3",
            "1:y=2",
            "1:mean=0s",
        ] {
            assert!(point(text).is_err(), "{text}");
        }
    }

    #[test]
    fn models_are_those_there_are() {
        let names: Vec<&str> = study::scaling::Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names, MODELS);
        assert!(load("-1").is_err() && load("NaN").is_err() && load("1e9").is_err());
    }
}
