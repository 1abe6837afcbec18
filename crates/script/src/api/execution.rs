//! Module `k6/execution`: where an iteration stands in its test, the tags of its VU, and ways to end the test.

use std::rc::Rc;

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::{Args, Constructor, Opt};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::object::Accessor;
use rquickjs::{Ctx, Exception as JsException, Function, IntoJs, Object, Result, Value};
use users::{AbortReason, Instance, ScenarioInfo, Stage};

use crate::runtime::caught::exception_of;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::frames::innermost;
use crate::runtime::values::string_of;

/// The module.
pub(super) struct Execution;

/// What the module has, by its part.
const PARTS: [&str; 4] = ["instance", "scenario", "test", "vu"];

impl ModuleDef for Execution {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        PARTS.iter().try_for_each(|name| declared.declare(*name).map(drop))?;
        declared.declare("default").map(drop)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        for (name, part) in [
            ("instance", instance(ctx)?),
            ("scenario", scenario(ctx)?),
            ("test", test(ctx)?),
            ("vu", vu(ctx)?),
        ] {
            all.set(name, part.clone())?;
            exports.export(name, part)?;
        }
        exports.export("default", all).map(drop)
    }
}

/// Defines a property that a function computes at each read.
fn getter<'js, V: IntoJs<'js> + 'js>(
    of: &Object<'js>,
    name: &str,
    get: impl Fn(&Ctx<'js>, &VuContext) -> Result<V> + 'js,
) -> Result<()> {
    let get = move |ctx: Ctx<'js>| -> Result<V> { get(&ctx, &*vu_of(&ctx)?) };
    of.prop(name, Accessor::from(get).enumerable())
}

fn refused(ctx: &Ctx<'_>, what: &str, place: &str) -> rquickjs::Error {
    JsException::throw_message(ctx, &format!("getting {what} {place} is not supported"))
}

fn scenario_info(ctx: &Ctx<'_>, vu: &VuContext) -> Result<Rc<ScenarioInfo>> {
    let scenario = vu.execution.borrow().scenario.clone();
    scenario
        .filter(|_| vu.stage.get() == Stage::Iteration)
        .ok_or_else(|| refused(ctx, "scenario information", "outside of the VU context"))
}

fn scenario<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let of = Object::new(ctx.clone())?;
    getter(&of, "name", |ctx, vu| Ok(scenario_info(ctx, vu)?.name.clone()))?;
    getter(&of, "executor", |ctx, vu| Ok(scenario_info(ctx, vu)?.executor))?;
    getter(&of, "startTime", |ctx, vu| Ok(vu.host.scenario(scenario_info(ctx, vu)?.number).0))?;
    getter(&of, "progress", |ctx, vu| Ok(vu.host.scenario(scenario_info(ctx, vu)?.number).1))?;
    getter(&of, "iterationInInstance", |ctx, vu| {
        scenario_info(ctx, vu).map(|_| vu.execution.borrow().scenario_iteration as f64)
    })?;
    getter(&of, "iterationInTest", |ctx, vu| {
        scenario_info(ctx, vu).map(|_| vu.execution.borrow().scenario_iteration_in_test as f64)
    })?;
    Ok(of)
}

fn instance<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let of = Object::new(ctx.clone())?;
    let numbers: [(&str, fn(Instance) -> f64); 5] = [
        ("currentTestRunDuration", |of| of.duration.0 as f64 / 1e6),
        ("iterationsCompleted", |of| of.completed as f64),
        ("iterationsInterrupted", |of| of.interrupted as f64),
        ("vusActive", |of| of.active as f64),
        ("vusInitialized", |of| of.initialized as f64),
    ];
    for (name, number) in numbers {
        getter(&of, name, move |ctx, vu| {
            let is_running = matches!(vu.stage.get(), Stage::Setup | Stage::Iteration);
            let instance = vu.host.instance().filter(|_| is_running);
            instance
                .map(number)
                .ok_or_else(|| refused(ctx, "instance information", "in the init context"))
        })?;
    }
    Ok(of)
}

fn test<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let of = Object::new(ctx.clone())?;
    let abort = |ctx: Ctx<'js>, text: Opt<Value<'js>>| -> Result<()> {
        let vu = vu_of(&ctx)?;
        let mut text = reason("test aborted", text)?;
        // Of `setup` and `teardown` k6 does not say where.
        if matches!(vu.stage.get(), Stage::Init | Stage::Iteration)
            && let Some(place) = place(&ctx)?
        {
            text = format!("{text} {place}");
        }
        vu.host.halt(AbortReason::Abort(text));
        vu.stopped.set(true);
        Err(crate::runtime::ffi::throw_uncatchable(&ctx, "test aborted"))
    };
    let fail = |ctx: Ctx<'js>, text: Opt<Value<'js>>| -> Result<()> {
        vu_of(&ctx)?.host.halt(AbortReason::Fail(reason("test marked as failed", text)?));
        Ok(())
    };
    of.set("abort", Function::new(ctx.clone(), abort)?)?;
    of.set("fail", Function::new(ctx.clone(), fail)?)?;
    getter(&of, "options", |ctx, vu| {
        if vu.stage.get() == Stage::Init {
            return Err(refused(ctx, "test options", "in the init context"));
        }
        let options = vu.host.options();
        let options: Value<'js> = ctx.json_parse(options.as_deref().unwrap_or("{}"))?;
        freeze(ctx, &options)?;
        Ok(options)
    })?;
    Ok(of)
}

/// Where the script is, `at name (file:line:column)`.
fn place(ctx: &Ctx<'_>) -> Result<Option<String>> {
    let error: Constructor<'_> = ctx.globals().get(PredefinedAtom::Error)?;
    let error: Value<'_> = error.construct(())?;
    Ok(innermost(&exception_of(&error)).map(str::to_owned))
}

/// What happened, and why where the script says.
fn reason(what: &str, text: Opt<Value<'_>>) -> Result<String> {
    let text = text.0.filter(|text| !text.is_undefined() && !text.is_null());
    let text = text.as_ref().map(string_of).transpose()?.filter(|text| !text.is_empty());
    Ok(text.map_or_else(|| what.to_owned(), |text| format!("{what}: {text}")))
}

/// Freezes an object and what it holds.
fn freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for field in object.props::<Value<'js>, Value<'js>>() {
        freeze(ctx, &field?.1)?;
    }
    let object_type: Object<'js> = ctx.globals().get(PredefinedAtom::Object)?;
    object_type
        .get::<_, Function<'js>>("freeze")?
        .call::<_, Value<'js>>((object.clone(),))
        .map(drop)
}

fn vu<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let of = Object::new(ctx.clone())?;
    let numbers: [(&str, fn(&VuContext) -> u64); 4] = [
        ("idInInstance", |vu| vu.execution.borrow().vu),
        ("idInTest", |vu| match vu.execution.borrow().vu {
            0 => 0,
            _ => vu.execution.borrow().vu_in_test,
        }),
        ("iterationInInstance", |vu| vu.execution.borrow().vu_iteration),
        ("iterationInScenario", |vu| vu.execution.borrow().vu_iteration_in_scenario),
    ];
    for (name, number) in numbers {
        getter(&of, name, move |ctx, vu| {
            begun(ctx, vu)?;
            Ok(number(vu) as f64)
        })?;
    }
    let tags = proxy(ctx, Kind::Tags)?;
    let metadata = proxy(ctx, Kind::Metadata)?;
    let metrics = Object::new(ctx.clone())?;
    for (of, name, kind) in [
        (&of, "tags", Kind::Tags),
        (&metrics, "tags", Kind::Tags),
        (&metrics, "metadata", Kind::Metadata),
    ] {
        // The functions of a proxy find the VU that runs, so one serves all.
        let held = if kind == Kind::Tags { tags.clone() } else { metadata.clone() };
        of.prop(name, rquickjs::object::Property::from(held).enumerable())?;
    }
    of.prop("metrics", rquickjs::object::Property::from(metrics).enumerable())?;
    Ok(of)
}

fn begun(ctx: &Ctx<'_>, vu: &VuContext) -> Result<()> {
    match vu.stage.get() {
        Stage::Init => Err(refused(ctx, "VU information", "in the init context")),
        _ => Ok(()),
    }
}

/// What a VU gives all its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tags,
    Metadata,
}

/// The most tags, and the most metadata, of a VU.
const TAGS_MAX: usize = 1_000;

impl Kind {
    /// All of them by name; of one name the last counts.
    fn all(self, vu: &VuContext) -> Vec<(String, String)> {
        let own = match self {
            Self::Tags => vu.vu_tags.borrow().clone(),
            Self::Metadata => {
                return vu.metadata.borrow().as_deref().cloned().unwrap_or_default();
            }
        };
        let mut all = Vec::new();
        if let Some(scenario) = &vu.execution.borrow().scenario {
            all.clone_from(&scenario.tags);
            all.push(("scenario".to_owned(), scenario.name.clone()));
        }
        all.push(("group".to_owned(), vu.group.borrow().to_string()));
        for (name, value) in own.iter().flat_map(|own| own.iter()) {
            all.retain(|(known, _)| known != name);
            all.push((name.clone(), value.clone()));
        }
        all.sort_unstable();
        all
    }

    /// Replaces what the VU gives of its own.
    fn change(self, vu: &VuContext, name: &str, value: Option<String>) -> bool {
        let held = match self {
            Self::Tags => &vu.vu_tags,
            Self::Metadata => &vu.metadata,
        };
        let mut own = held.borrow().as_deref().cloned().unwrap_or_default();
        own.retain(|(known, _)| known != name);
        if let Some(value) = value {
            if own.len() >= TAGS_MAX {
                return false;
            }
            own.push((name.to_owned(), stdx::shown_url(&value).into_owned()));
        }
        let own = (!own.is_empty()).then(|| Rc::new(own));
        drop(held.replace(own));
        true
    }

    const fn what(self) -> (&'static str, &'static str) {
        match self {
            Self::Tags => ("tag", "a metric tag values"),
            Self::Metadata => ("metadata", "a metric metadata value"),
        }
    }
}

/// An object whose properties are the tags of the VU that runs.
fn proxy<'js>(ctx: &Ctx<'js>, kind: Kind) -> Result<Value<'js>> {
    let find = move |ctx: &Ctx<'js>, name: &Value<'js>| -> Result<Option<String>> {
        let vu = vu_of(ctx)?;
        begun(ctx, &vu)?;
        let Some(name) = name.as_string() else { return Ok(None) };
        let name = name.to_string()?;
        Ok(kind.all(&vu).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value))
    };
    let handler = Object::new(ctx.clone())?;
    let get = move |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| -> Result<Value<'js>> {
        match find(&ctx, &name)? {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    };
    handler.set("get", Function::new(ctx.clone(), get)?)?;
    let has = move |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| {
        find(&ctx, &name).map(|value| value.is_some())
    };
    handler.set("has", Function::new(ctx.clone(), has)?)?;
    let describe =
        move |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| -> Result<Option<Object<'js>>> {
            let Some(value) = find(&ctx, &name)? else { return Ok(None) };
            let description = Object::new(ctx)?;
            description.set("value", value)?;
            ["writable", "enumerable", "configurable"]
                .iter()
                .try_for_each(|name| description.set(*name, true))?;
            Ok(Some(description))
        };
    handler.set("getOwnPropertyDescriptor", Function::new(ctx.clone(), describe)?)?;
    let names = move |ctx: Ctx<'js>, _: Value<'js>| -> Result<Vec<String>> {
        let vu = vu_of(&ctx)?;
        begun(&ctx, &vu)?;
        Ok(kind.all(&vu).into_iter().map(|(name, _)| name).collect())
    };
    handler.set("ownKeys", Function::new(ctx.clone(), names)?)?;
    let set = move |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>, value: Value<'js>| {
        change(&ctx, kind, &name, Some(&value))
    };
    handler.set("set", Function::new(ctx.clone(), set)?)?;
    let delete =
        move |ctx: Ctx<'js>, _: Value<'js>, name: Value<'js>| change(&ctx, kind, &name, None);
    handler.set("deleteProperty", Function::new(ctx.clone(), delete)?)?;
    let constructor: Constructor<'js> = ctx.globals().get("Proxy")?;
    let mut args = Args::new(ctx.clone(), 2);
    args.push_arg(Object::new(ctx.clone())?)?;
    args.push_arg(handler)?;
    constructor.construct_args(args)
}

fn change<'js>(
    ctx: &Ctx<'js>,
    kind: Kind,
    name: &Value<'js>,
    value: Option<&Value<'js>>,
) -> Result<bool> {
    let vu = vu_of(ctx)?;
    begun(ctx, &vu)?;
    let name = string_of(name)?;
    let value = match value {
        None => None,
        Some(value) if value.is_string() || value.is_number() || value.is_bool() => {
            Some(string_of(value)?)
        }
        Some(_) => {
            let (what, whose) = kind.what();
            let text = format!(
                "invalid value for metric {what} '{name}': only String, Boolean and Number types are accepted as {whose}"
            );
            return Err(JsException::throw_type(ctx, &text));
        }
    };
    Ok(kind.change(&vu, &name, value))
}
