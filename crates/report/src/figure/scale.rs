//! `Scale`: the spread of values along an axis, and its ticks. It draws nothing.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from 0.
    Linear,
    /// By powers of ten. Values of 0 or less lie on the axis' low end.
    Log,
    /// Percentiles by their nines: the value is `1/(1-q)`, spread by powers of ten; ticks say 90%, 99%, 99.9%.
    Nines,
}

impl Scale {
    /// Its name in a page's data.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
            Self::Nines => "nines",
        }
    }
}

/// One tick: its value and its text.
pub(crate) type Tick = (f64, String);

/// A scale over the values it must show. `web/src/scale.ts` does the same in a page.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Room beside the outermost marks, as a share of the range between them, so that no mark touches the frame.
const MARK_ROOM: f64 = 0.03;
/// An even horizontal axis begins at 0 where the least value is at most this share of the greatest.
const NEAR_ZERO: f64 = 0.1;

impl Span {
    /// A vertical axis: covers all of `values`, rounded outwards to ticks; a linear one includes 0.
    pub(crate) fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = match (scale, ends(scale, values)) {
            (Scale::Linear, None) => (0.0, 1.0),
            (Scale::Linear, Some((low, high))) => {
                (low.min(0.0), if high > 0.0 { high } else { 1.0 })
            }
            (_, None) => (1.0, 10.0),
            (Scale::Log, Some((low, high))) => log_bounds(low, high),
            (Scale::Nines, Some((_, high))) => (1.0, high.max(10.0)),
        };
        Self { scale, low, high }
    }

    /// A horizontal axis: covers `values` and no more, but for room beside marks.
    pub(crate) fn along(scale: Scale, values: impl Iterator<Item = f64>, has_marks: bool) -> Self {
        let (low, high) = match (scale, ends(scale, values)) {
            (Scale::Linear, None) => (0.0, 1.0),
            (Scale::Linear, Some((low, high))) => along(low, high, has_marks),
            (_, None) => (1.0, 10.0),
            (Scale::Log, Some((low, high))) if high > low * 1.01 => (low, high),
            (Scale::Log, Some((low, high))) => (low / 2.0, high * 2.0),
            (Scale::Nines, Some((_, high))) => (1.0, high.max(10.0)),
        };
        Self { scale, low, high }
    }

    /// Adds room above the greatest value, so that no line touches the frame.
    pub(crate) fn with_headroom(mut self) -> Self {
        if self.scale == Scale::Linear {
            self.high += (self.high - self.low) * 0.06;
        }
        self
    }

    /// Where a value lies, 0 at the low end, 1 at the high end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            _ if value <= self.low => 0.0,
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        at.clamp(0.0, 1.0)
    }

    /// The ticks, about `wanted` of them.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, wanted),
            Scale::Log => log_ticks(self.low, self.high, wanted),
            Scale::Nines => nines_ticks(self.high),
        }
    }
}

/// The least and the greatest value that the scale has room for.
fn ends(scale: Scale, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let usable = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
    let (low, high) = usable.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    (low <= high).then_some((low, high))
}

fn along(low: f64, high: f64, has_marks: bool) -> (f64, f64) {
    let low = if low > 0.0 && low <= high * NEAR_ZERO { 0.0 } else { low };
    let room = match (high > low, has_marks) {
        (true, true) => (high - low) * MARK_ROOM,
        (true, false) => 0.0,
        (false, _) => (high.abs() * 0.1).max(1.0),
    };
    (low - room, high + room)
}

/// Bounds of a log axis: rounded out to 1, 2 or 5 times a power of ten, at least half a decade apart.
fn log_bounds(low: f64, high: f64) -> (f64, f64) {
    let step = |v: f64| 10f64.powf(v.log10().floor());
    let down = [5.0, 2.0, 1.0].into_iter().map(|m| m * step(low)).find(|v| *v <= low * 1.000_001);
    let up = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * step(high));
    let high = up.into_iter().find(|v| *v >= high * 0.999_999).unwrap_or(high * 2.0);
    let low = down.unwrap_or(low);
    if high <= low * 2.5 { (low / 2.0, high * 2.0) } else { (low, high) }
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let raw = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 100)).map(|n| n as f64 * step).map(|v| (v, number(v))).collect()
}

/// The multiples of powers of ten for ticks of a log axis: the first row with few enough ticks is used.
const LOG_STEPS: [&[f64]; 4] =
    [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];

fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let of = |steps: &[f64], decades: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(decades);
        let all = powers.flat_map(|power| steps.iter().map(move |m| m * 10f64.powi(power)));
        all.filter(|v| *v >= low * 0.999_999 && *v <= high * 1.000_001).collect()
    };
    let fitting = LOG_STEPS.into_iter().map(|steps| of(steps, 1)).find(|all| all.len() <= wanted);
    let decades = (last - first) as usize / wanted.max(1) + 1;
    let values = fitting.unwrap_or_else(|| of(&[1.0], decades));
    values.into_iter().map(|v| (v, number(v))).collect()
}

fn nines_ticks(high: f64) -> Vec<Tick> {
    let mut ticks = vec![(1.0, "0%".to_owned()), (2.0, "50%".to_owned())];
    let mut value = 10.0;
    while value <= high * 1.000_001 && ticks.len() < 16 {
        ticks.push((value, percentile(value)));
        value *= 10.0;
    }
    ticks
}

/// `1/(1-q)` as its percentile.
fn percentile(value: f64) -> String {
    let digits = (value.log10().round() as usize).saturating_sub(2);
    format!("{:.digits$}%", 100.0 - 100.0 / value)
}

/// A short number: no trailing zeros, thousands as `k`, millions as `M`.
pub(crate) fn number(v: f64) -> String {
    let (scaled, unit) = match v.abs() {
        a if a >= 9_999_500.0 => (v / 1e6, "M"),
        a if a >= 9_999.5 => (v / 1e3, "k"),
        _ => (v, ""),
    };
    let digits = if scaled == 0.0 { 0 } else { (3 - scaled.abs().log10().floor() as i32).max(0) };
    let text = format!("{scaled:.*}", digits as usize);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_stand_on_round_numbers() {
        let linear = Span::over(Scale::Linear, [0.0, 9.7].into_iter());
        assert_eq!(texts(&linear.ticks(5)), ["0", "2", "4", "6", "8"]);
        let log = Span::over(Scale::Log, [0.31, 4200.0].into_iter());
        assert_eq!(texts(&log.ticks(6)), ["1", "10", "100", "1000"]);
        let nines = Span::over(Scale::Nines, [1.0, 10_000.0].into_iter());
        assert_eq!(texts(&nines.ticks(6)), ["0%", "50%", "90%", "99%", "99.9%", "99.99%"]);
    }

    #[test]
    fn places_stay_in_the_frame() {
        for scale in [Scale::Linear, Scale::Log, Scale::Nines] {
            let span = Span::over(scale, [0.0, 3.0, 700.0, f64::NAN].into_iter());
            for value in [-1.0, 0.0, 1e-9, 3.0, 700.0, 1e12] {
                let at = span.place(value);
                assert!((0.0..=1.0).contains(&at), "{scale:?} {value} {at}");
            }
            assert!(span.place(700.0) > span.place(3.0), "{scale:?}");
        }
    }

    #[test]
    fn nothing_to_show_still_has_an_axis() {
        for scale in [Scale::Linear, Scale::Log, Scale::Nines] {
            assert!(!Span::over(scale, std::iter::empty()).ticks(5).is_empty());
        }
        assert_eq!(Span::over(Scale::Log, [7.0].into_iter()).place(7.0).signum(), 1.0);
    }

    #[test]
    fn a_log_axis_has_as_many_ticks_as_there_is_room_for() {
        let half = Span::over(Scale::Log, [20.0, 60.0].into_iter());
        assert_eq!(texts(&half.ticks(6)), ["20", "50", "100"]);
        assert_eq!(texts(&half.ticks(8)), ["20", "30", "40", "50", "60", "80", "100"]);
        let far = Span::over(Scale::Log, [1.0, 1e9].into_iter());
        assert_eq!(texts(&far.ticks(5)), ["1", "100", "10k", "1000k", "100M"]);
    }

    #[test]
    fn a_horizontal_axis_covers_its_values_and_no_more() {
        let along = |values: [f64; 2], has_marks| {
            let span = Span::along(Scale::Linear, values.into_iter(), has_marks);
            (span.low, span.high)
        };
        assert_eq!(along([200.0, 260.0], false), (200.0, 260.0));
        assert_eq!(along([1.0, 16.0], false), (0.0, 16.0), "0 is near");
        assert_eq!(along([100.0, 200.0], true), (97.0, 203.0));
        assert_eq!(along([7.0, 7.0], false), (6.0, 8.0));
        let log = Span::along(Scale::Log, [3.0, 7.0].into_iter(), false);
        assert_eq!((log.low, log.high), (3.0, 7.0));
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (0.25, "0.25"), (1500.0, "1500"), (20_000.0, "20k"), (0.001, "0.001")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
