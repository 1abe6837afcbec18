//! Numbers and texts for schemas.

use serde_json::{Value, json};

use super::document::{is_set, text};
use super::pattern::matching_text;

/// The key under which the name of a property stands in its schema: a text without format is guessed by it.
pub(super) const HINT: &str = "x-brunt-name";

/// A whole number within the bounds of a schema; `variant` is the number of the wanted one.
pub(super) fn integer(schema: &Value, variant: usize) -> Value {
    let bounds = Bounds::of(schema, 1.0);
    let number = bounds.number(variant);
    if number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

/// A number within the bounds of a schema.
pub(super) fn number(schema: &Value, variant: usize) -> Value {
    let step = if schema.get("multipleOf").is_some() { 1.0 } else { 0.5 };
    let mut bounds = Bounds::of(schema, step);
    let number = bounds.number(variant);
    if bounds.holds(number) {
        return json!(number);
    }
    // Narrower than the step: what lies in the middle.
    bounds.step = (bounds.high - bounds.low) / 2.0;
    json!(bounds.low + bounds.step)
}

/// What a number must keep to.
struct Bounds {
    low: f64,
    high: f64,
    low_is_open: bool,
    high_is_open: bool,
    step: f64,
}

impl Bounds {
    fn of(schema: &Value, step: f64) -> Self {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let mut bounds = Self {
            low: bound("minimum").unwrap_or(f64::NEG_INFINITY),
            high: bound("maximum").unwrap_or(f64::INFINITY),
            low_is_open: is_set(schema, "exclusiveMinimum"),
            high_is_open: is_set(schema, "exclusiveMaximum"),
            step: bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(step),
        };
        if let Some(low) = bound("exclusiveMinimum").filter(|low| *low >= bounds.low) {
            (bounds.low, bounds.low_is_open) = (low, true);
        }
        if let Some(high) = bound("exclusiveMaximum").filter(|high| *high <= bounds.high) {
            (bounds.high, bounds.high_is_open) = (high, true);
        }
        bounds
    }

    fn holds(&self, number: f64) -> bool {
        number.is_finite()
            && (number > self.low || number == self.low && !self.low_is_open)
            && (number < self.high || number == self.high && !self.high_is_open)
    }

    /// The step number `variant` from the first one above zero that the bounds hold, else from the lowest, else the highest.
    fn number(&self, variant: usize) -> f64 {
        let (step, offset) = (self.step, variant as f64);
        let small = step.max((1.0 / step).ceil() * step) + offset * step;
        if self.holds(small) {
            return small;
        }
        let up = (self.low / step).ceil() * step;
        let up = if self.holds(up) { up } else { up + step } + offset * step;
        if self.holds(up) {
            return up;
        }
        let down = (self.high / step).floor() * step;
        let down = if self.holds(down) { down } else { down - step } - offset * step;
        if down.is_finite() { down } else { 0.0 }
    }
}

/// A text by a schema's format, pattern and length.
pub(super) fn string(schema: &Value, variant: usize) -> String {
    let length = |key, default| schema.get(key).and_then(Value::as_u64).unwrap_or(default) as usize;
    let (min, max) = (length("minLength", 0), length("maxLength", u64::MAX));
    if let Some(made) =
        text(schema, "pattern").and_then(|pattern| matching_text(pattern, min, max, variant))
    {
        return made;
    }
    let format = text(schema, "format").unwrap_or_default();
    let made = by_format(format, variant)
        .or_else(|| text(schema, HINT).and_then(|name| by_name(name, variant)))
        .unwrap_or_else(|| if variant == 0 { "text".to_owned() } else { format!("text{variant}") });
    fitted(&made, min, max, variant)
}

/// The text with a length within the bounds, and its number still at the end.
fn fitted(made: &str, min: usize, max: usize, variant: usize) -> String {
    let len = made.chars().count();
    let min = min.min(TEXT_CHARS_MAX);
    if len > max {
        let number = if variant == 0 { String::new() } else { variant.to_string() };
        let room = max.saturating_sub(number.len());
        return made.chars().take(room).chain(number.chars()).take(max).collect();
    }
    format!("{made}{}", "x".repeat(min.saturating_sub(len)))
}

fn by_format(format: &str, variant: usize) -> Option<String> {
    let n = variant;
    Some(match format {
        "date-time" => format!("2025-03-{:02}T09:30:00Z", 1 + n % 28),
        "date" => format!("2025-03-{:02}", 1 + n % 28),
        "time" => format!("09:{:02}:00Z", n % 60),
        "duration" => format!("PT{}M", n + 1),
        "uuid" | "guid" => format!("3f2b8c1e-7d4a-4e6b-9a5c-{:012x}", n + 1),
        "email" | "idn-email" => format!("ada{}@mail.example", suffix(n)),
        "hostname" | "idn-hostname" => format!("host{}.example", suffix(n)),
        "ipv4" | "ip" => format!("192.0.2.{}", 1 + n % 254),
        "ipv6" => format!("2001:db8::{:x}", n + 1),
        "uri" | "url" | "iri" => format!("https://site.example/{}", n + 1),
        "uri-reference" | "iri-reference" | "relative-json-pointer" | "json-pointer" => {
            format!("/item/{}", n + 1)
        }
        "byte" | "base64" => "dGV4dA==".to_owned(),
        "binary" => "content".to_owned(),
        "password" => format!("Correct-horse-{}", n + 1),
        "phone" => format!("+1202555{:04}", 100 + n),
        "int64" | "int32" | "decimal" => (n + 1).to_string(),
        "regex" => "^a$".to_owned(),
        _ => return None,
    })
}

/// A guess by the name of a property, where neither format nor pattern says more.
fn by_name(name: &str, variant: usize) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    match () {
        () if has("email") || lower == "mail" => by_format("email", variant),
        () if has("phone") => by_format("phone", variant),
        () if lower == "url"
            || lower == "uri"
            || lower.ends_with("_url")
            || name.ends_with("Url") =>
        {
            by_format("uri", variant)
        }
        () if lower == "currency" => Some("EUR".to_owned()),
        () if lower == "country" => Some("NO".to_owned()),
        () if has("name") || has("title") => Some(format!("{name}{}", suffix(variant + 1))),
        () => None,
    }
}

fn suffix(variant: usize) -> String {
    if variant == 0 { String::new() } else { variant.to_string() }
}

/// No text is made longer.
const TEXT_CHARS_MAX: usize = 10_000;
