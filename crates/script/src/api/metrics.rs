//! Module `k6/metrics`: a script's own metrics.

use std::rc::Rc;

use metrics::tally::{Contains, Kind, MetricId};
use rquickjs::function::{Constructor, Opt};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};
use users::{DeclareError, DeclaredMetric, Level, Stage};

use crate::api::inspect::inspect;
use crate::api::tags::sample_tags;
use crate::runtime::current::vu_of;
use crate::runtime::values::truthy;

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
    let vu = vu_of(ctx)?;
    if vu.stage.get() != Stage::Init {
        return Err(Exception::throw_message(ctx, "metrics must be declared in the init context"));
    }
    let name = name.and_then(|name| name.as_string()?.to_string().ok()).unwrap_or_default();
    if !is_name(&name) {
        let text = format!(
            "invalid metric name: '{name}'; it is letters, digits and underscores, no digit first, 2 to 128 of them"
        );
        return Err(Exception::throw_message(ctx, &text));
    }
    let declared =
        vu.registry.borrow().declare(DeclaredMetric { name: name.clone(), kind, contains });
    let id = declared.map_err(|undeclared| {
        let text = match undeclared {
            DeclareError::Is(known) => format!(
                "metric '{name}' already exists but with type {}, instead of {}",
                known.name(),
                kind.name()
            ),
            DeclareError::Contains(known) => format!(
                "metric '{name}' already exists but with a value type {}, instead of {}",
                known.name(),
                contains.name()
            ),
            DeclareError::TooMany => "there are too many metrics".to_owned(),
        };
        Exception::throw_message(ctx, &text)
    })?;
    let object = Object::new(ctx.clone())?;
    object.set("name", name.as_str())?;
    // It knows the metric by its number, so that nothing is looked up.
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        add(&ctx, id, value.0.as_ref(), tags.0.as_ref())
    };
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
    ctx: &Ctx<'js>,
    id: MetricId,
    value: Option<&Value<'js>>,
    tags: Option<&Value<'js>>,
) -> Result<bool> {
    let vu = vu_of(ctx)?;
    vu.require_started(ctx, "Adding metrics")?;
    let tags = tags.map(|tags| sample_tags(ctx, tags)).transpose()?;
    let given = value.filter(|value| !value.is_null() && value.as_object().is_none());
    let number = given.map(|value| value.get::<Coerced<f64>>()).transpose()?.map(|number| number.0);
    let Some(number) = number.filter(|number| number.is_finite()) else {
        let name = vu.registry.borrow().name(id);
        let shown = value.map(inspect).transpose()?;
        let shown = shown.unwrap_or_else(|| "undefined".to_owned());
        let text = format!(
            "'{shown}' is an invalid value for metric '{name}', a number or a boolean value is expected"
        );
        vu.host.log_event(Level::Warn, &text, &[]);
        return Ok(false);
    };
    vu.sample(id, number, tags.filter(|tags| !tags.is_empty()).map(Rc::new));
    Ok(true)
}
