//! Module `k6/metrics`: a script's own metrics.

use metrics::tally::{Contains, Kind};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};

use super::{seat_of, string_fields, truthy};
use crate::host::Level;
use crate::seat::{Declared, Stage};

/// The module.
pub(super) struct Metrics;

/// The constructors.
const KINDS: [(&str, Kind); 4] = [
    ("Counter", Kind::Counter),
    ("Gauge", Kind::Gauge),
    ("Rate", Kind::Rate),
    ("Trend", Kind::Trend),
];

impl ModuleDef for Metrics {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        for (name, _) in KINDS {
            declared.declare(name)?;
        }
        declared.declare("default")?;
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        for (name, kind) in KINDS {
            let make = move |ctx: Ctx<'js>, name: Opt<Value<'js>>, time: Opt<Value<'js>>| {
                let time = time.0.as_ref().map(truthy).transpose()?.unwrap_or(false);
                let contains = if time { Contains::Time } else { Contains::Default };
                metric(&ctx, kind, name.0, contains)
            };
            let constructor = Constructor::new_prototype(ctx, Object::new(ctx.clone())?, make)?;
            all.set(name, constructor.clone())?;
            exports.export(name, constructor)?;
        }
        exports.export("default", all)?;
        Ok(())
    }
}

/// `new Counter(name, isTime)`: declared where the script begins, and the same for every VU.
fn metric<'js>(
    ctx: &Ctx<'js>,
    kind: Kind,
    name: Option<Value<'js>>,
    contains: Contains,
) -> Result<Object<'js>> {
    let seat = seat_of(ctx)?;
    if seat.stage.get() != Stage::Init {
        return Err(Exception::throw_message(ctx, "metrics must be declared in the init context"));
    }
    let name = name.and_then(|name| name.as_string()?.to_string().ok()).unwrap_or_default();
    if !is_name(&name) {
        let text = format!(
            "invalid metric name: '{name}'; it is letters, digits and underscores, no digit first, 2 to 128 of them"
        );
        return Err(Exception::throw_message(ctx, &text));
    }
    let mut declared = seat.declared.borrow_mut();
    match declared.iter().find(|known| known.name == name) {
        Some(known) if known.kind != kind => {
            let text = format!(
                "metric '{name}' already exists but with type {}, instead of {}",
                known.kind.name(),
                kind.name()
            );
            return Err(Exception::throw_message(ctx, &text));
        }
        Some(_) => {}
        None => declared.push(Declared { name: name.clone(), kind, contains }),
    }
    drop(declared);
    let object = Object::new(ctx.clone())?;
    object.set("name", name)?;
    object.set("add", Function::new(ctx.clone(), add)?)?;
    Ok(object)
}

fn is_name(name: &str) -> bool {
    let first = name.as_bytes().first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    first
        && (2..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `metric.add(value, tags)`; whether the value was one.
fn add<'js>(
    ctx: Ctx<'js>,
    this: This<Object<'js>>,
    value: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<bool> {
    let seat = seat_of(&ctx)?;
    seat.begun(&ctx, "Adding metrics")?;
    let name: String = this.0.get("name")?;
    let given = value.0.filter(|value| !value.is_null() && value.as_object().is_none());
    let number = given.map(|value| value.get::<Coerced<f64>>()).transpose()?.map(|number| number.0);
    let Some(number) = number.filter(|number| number.is_finite()) else {
        seat.host.log(Level::Warn, &format!("the value of metric '{name}' is not a number"));
        return Ok(false);
    };
    let tags = tags.0.as_ref().map(string_fields).transpose()?.unwrap_or_default();
    seat.sample(&name, number, tags);
    Ok(true)
}
