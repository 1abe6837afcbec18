//! The grammar of gates, and the refusal of those that no run or every run crosses.

use std::fmt;
use std::str::FromStr;

use stdx::{Bytes, Nanos};

use super::{
    GATES_MAX, Gate, GateError, GateMetric, GateUnit, Gates, Selector, Statistic, StatusSet,
    contradiction, tagged::metric_of,
};
use crate::metric_name::canonical;
use crate::objective::{is_decimal, operator, share};
use crate::{GrpcStatus, Op, Outcome};

impl FromStr for Gates {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let list: Vec<Gate> =
            parts(text).into_iter().map(|part| part.trim().parse()).collect::<Result<_, _>>()?;
        if list.len() > GATES_MAX {
            return Err(GateError::TooMany);
        }
        contradiction::check(&list)?;
        Ok(Self { list })
    }
}

impl Gates {
    /// The same gates and these.
    ///
    /// # Errors
    /// They are too many together, or contradict each other.
    pub fn and(mut self, more: Self) -> Result<Self, GateError> {
        self.list.extend(more.list);
        if self.list.len() > GATES_MAX {
            return Err(GateError::TooMany);
        }
        contradiction::check(&self.list)?;
        Ok(self)
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(part: &str) -> Result<Self, GateError> {
        // Neither a report of it nor an error shows a password, and what it selects has none.
        let part = &*stdx::shown_selector(part);
        if part.is_empty() {
            return Err(GateError::Empty);
        }
        let (name, selected, rest) = sections(part)?;
        let metric = metric(part, name.trim())?;
        let selector = selected.map(|text| selector(part, text)).transpose()?.unwrap_or_default();
        if !rest.starts_with(['<', '>']) {
            return Err(GateError::Operator(part.to_owned()));
        }
        let (op, text) = operator(rest);
        let (limit, unit) = limit(part, metric, text.trim())?;
        let gate = Self { expression: part.to_owned(), metric, selector, op, limit, unit };
        gate.check_selector()?;
        gate.check_limit()?;
        Ok(gate)
    }
}

/// The texts between commas that are neither within braces nor within quotes.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted) = (0_u32, false);
    text.split(|c| {
        match c {
            '"' => is_quoted = !is_quoted && depth > 0,
            '{' if !is_quoted => depth += 1,
            '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

/// The metric, what its braces hold, and the rest from the comparison on.
fn sections(part: &str) -> Result<(&str, Option<&str>, &str), GateError> {
    let at = part.find(['<', '>', '{']);
    let at = at.ok_or_else(|| GateError::Operator(part.to_owned()))?;
    let (metric, rest) = part.split_at(at);
    let Some(inside) = rest.strip_prefix('{') else { return Ok((metric, None, rest)) };
    let close = closing_brace(inside);
    let close = close.ok_or_else(|| GateError::Selector { part: part.to_owned() })?;
    Ok((metric, Some(&inside[..close]), inside[close + 1..].trim_start()))
}

/// Where the first brace closes that is not within quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.find(|c| {
        is_quoted ^= c == '"';
        c == '}' && !is_quoted
    })
}

fn metric(part: &str, name: &str) -> Result<GateMetric, GateError> {
    let unknown = || GateError::Metric { part: part.to_owned(), metric: name.to_owned() };
    match name {
        "errors" => return Ok(GateMetric::Errors),
        "success" => return Ok(GateMetric::Success),
        "rate" => return Ok(GateMetric::Rate),
        "requests" => return Ok(GateMetric::Requests),
        "bytes" => return Ok(GateMetric::Bytes),
        "thresholds" => return Ok(GateMetric::Thresholds),
        "checks" => return Ok(GateMetric::Checks),
        _ => {}
    }
    if let Some(text) = name.strip_prefix("status.") {
        return Ok(GateMetric::Status(status(part, text)?));
    }
    let full = canonical(name);
    let (family, statistic) = full.split_once('.').ok_or_else(unknown)?;
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        _ => percentile(part, name, statistic)?,
    };
    match family {
        "latency" => Ok(GateMetric::Response(statistic)),
        "service" => Ok(GateMetric::Service(statistic)),
        _ => Err(unknown()),
    }
}

fn percentile(part: &str, name: &str, statistic: &str) -> Result<Statistic, GateError> {
    let (part, metric) = (part.to_owned(), name.to_owned());
    let digits = statistic.strip_prefix('p').filter(|digits| is_decimal(digits));
    let Some(digits) = digits else { return Err(GateError::Metric { part, metric }) };
    let percent = digits.parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent.map(Statistic::Percentile).ok_or(GateError::Percentile { part, metric })
}

fn status(part: &str, text: &str) -> Result<StatusSet, GateError> {
    let wrong = || GateError::Status { part: part.to_owned(), status: text.to_owned() };
    let is_number = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let found = match text.strip_suffix("xx") {
        Some(digit) => digit.parse().ok().filter(|d| (1..=5).contains(d)).map(StatusSet::Class),
        None if is_number => text.parse().ok().map(StatusSet::One),
        None => GrpcStatus::from_name(text).map(StatusSet::Grpc),
    };
    let is_one = |set: &StatusSet| !matches!(set, StatusSet::One(one) if !(100..600).contains(one));
    found.filter(is_one).ok_or_else(wrong)
}

/// `500`, `5xx`, or `UNAVAILABLE`.
impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(status) => write!(f, "{status}"),
            Self::Class(digit) => write!(f, "{digit}xx"),
            Self::Grpc(status) => f.write_str(status.name()),
        }
    }
}

/// As [`Selector::parse`] reads it.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.map(|status| status.to_string());
        let known = [
            ("name", &self.name),
            ("method", &self.method),
            ("target", &self.target),
            ("status", &status),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?)));
        let tags = self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (number, (key, value)) in known.chain(tags).enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let quote = if value.contains(',') { "\"" } else { "" };
            write!(f, "{comma}{key}:{quote}{value}{quote}")?;
        }
        Ok(())
    }
}

impl Selector {
    /// Reads `name:home,status:5xx,scenario:buyers`, as it stands within the braces of a gate.
    ///
    /// # Errors
    /// What is no selector.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        selector(text, text)
    }
}

fn selector(part: &str, text: &str) -> Result<Selector, GateError> {
    let wrong = || GateError::Selector { part: part.to_owned() };
    let mut selector = Selector::default();
    for one in parts_within(text) {
        let (key, value) = one.split_once(':').ok_or_else(wrong)?;
        let value = unquoted(value.trim()).filter(|value| !value.is_empty()).ok_or_else(wrong)?;
        let is_new = match key.trim() {
            "name" => selector.name.replace(value.to_owned()).is_none(),
            "target" => selector.target.replace(value.to_owned()).is_none(),
            "method" => selector.method.replace(value.to_owned()).is_none(),
            "status" => selector.status.replace(status(part, value)?).is_none(),
            // A metric's selector has no way to write these.
            tag if is_tag(tag) && !value.contains([',', '"']) => {
                let is_new = selector.tags.iter().all(|(known, _)| known != tag);
                selector.tags.push((tag.to_owned(), value.to_owned()));
                is_new
            }
            _ => false,
        };
        if !is_new {
            return Err(wrong());
        }
    }
    Ok(selector)
}

/// Whether a tag may have this name.
fn is_tag(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The texts between commas that are not within quotes.
fn parts_within(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    text.split(|c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
    .collect()
}

/// A value without its quotes; `None` where only one is there.
fn unquoted(text: &str) -> Option<&str> {
    match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').filter(|inside| !inside.contains('"')),
        None => (!text.contains('"')).then_some(text),
    }
}

/// The limit in its unit, which the metric and the text decide.
fn limit(part: &str, metric: GateMetric, text: &str) -> Result<(f64, GateUnit), GateError> {
    let is_share = text.ends_with('%') || text.contains('.');
    let (limit, expected) = match metric {
        GateMetric::Response(_) | GateMetric::Service(_) => {
            let time = Nanos::parse(text).ok().map(|time| (time.0 as f64, GateUnit::Time));
            (time, "a time with its unit, such as 300ms")
        }
        GateMetric::Thresholds => {
            let crossed = whole(text).map(|count| (count, GateUnit::Number));
            (crossed, "a whole number of crossed thresholds, such as 0")
        }
        GateMetric::Checks => {
            (share(text).map(|share| (share, GateUnit::Share)), "a share such as 99%")
        }
        GateMetric::Errors | GateMetric::Success | GateMetric::Status(_) => {
            let limit = match is_share {
                true => share(text).map(|share| (share, GateUnit::Share)),
                false => whole(text).map(|count| (count, GateUnit::Count)),
            };
            (limit, "a share such as 0.1% or 0.001, or a whole number of requests")
        }
        GateMetric::Rate => {
            let limit = match text.strip_suffix('%') {
                Some(percent) => decimal(percent.trim_end())
                    .map(|percent| (percent / 100.0, GateUnit::ShareOfPlanned)),
                None => decimal(text.strip_suffix("/s").unwrap_or(text))
                    .map(|rate| (rate, GateUnit::PerSecond)),
            };
            (limit, "requests per second such as 100, or a share of the planned rate such as 95%")
        }
        GateMetric::Requests => {
            (whole(text).map(|count| (count, GateUnit::Count)), "a whole number of requests")
        }
        GateMetric::Bytes => {
            let bytes = Bytes::parse(text).ok().map(|bytes| (bytes.0 as f64, GateUnit::Bytes));
            (bytes, "a size such as 512 or 10KB")
        }
    };
    let (part, limit_text) = (part.to_owned(), text.to_owned());
    limit.ok_or(GateError::Limit { part, limit: limit_text, expected })
}

fn whole(text: &str) -> Option<f64> {
    text.parse::<u64>().ok().filter(|_| is_decimal(text)).map(|count| count as f64)
}

fn decimal(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| is_decimal(text) && number.is_finite())
}

impl Gate {
    /// Refuses a selector that does not go with the metric.
    fn check_selector(&self) -> Result<(), GateError> {
        let (by_status, by_any) = (self.selector.status.is_some(), !self.selector.is_empty());
        let by_tag = self.selector.has_tags();
        let wrong = match (self.metric, self.unit) {
            (_, GateUnit::ShareOfPlanned) if by_any => {
                Some(("the share of the planned rate", "name, method, target, status or a tag"))
            }
            (GateMetric::Thresholds | GateMetric::Checks, _) if by_any => {
                Some(("what a script asserts", "name, method, target, status or a tag"))
            }
            _ if by_tag && metric_of(self).is_none() => Some(("this metric", "a script's tag")),
            _ if by_tag && (by_status || self.selector.target.is_some()) => {
                Some(("a request with a script's tag", "status or target as well"))
            }
            (GateMetric::Success, _) if by_status => Some(("success", "status")),
            (GateMetric::Status(_), _) if by_status => Some(("status", "status")),
            _ => None,
        };
        let refused = |(metric, selector)| {
            let part = self.expression.clone();
            Err(GateError::Unselectable { part, metric, selector })
        };
        wrong.map_or(Ok(()), refused)
    }

    /// Refuses a limit that no run or every run crosses.
    fn check_limit(&self) -> Result<(), GateError> {
        let greatest = if self.unit == GateUnit::Share { 1.0 } else { f64::INFINITY };
        let (is_never, is_always) = match self.op {
            Op::Below => (self.limit <= 0.0, false),
            // No response takes no time.
            Op::AtMost if self.unit == GateUnit::Time => (self.limit <= 0.0, false),
            Op::AtMost => (false, self.limit >= greatest),
            Op::Above if self.unit == GateUnit::Time => (false, self.limit <= 0.0),
            Op::Above => (self.limit >= greatest, false),
            Op::AtLeast => (false, self.limit <= 0.0),
        };
        let is_success = |set: StatusSet| match set {
            StatusSet::One(status) => Outcome::Http(status).is_success(),
            StatusSet::Class(digit) => matches!(digit, 2 | 3),
            StatusSet::Grpc(status) => status == GrpcStatus::OK,
        };
        let is_error_never =
            self.metric == GateMetric::Errors && self.selector.status.is_some_and(is_success);
        match (is_never || is_error_never, is_always) {
            (true, _) => Err(GateError::Never(self.expression.clone())),
            (_, true) => Err(GateError::Always(self.expression.clone())),
            _ => Ok(()),
        }
    }
}
