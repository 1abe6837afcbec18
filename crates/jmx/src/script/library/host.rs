//! What of the thread scripts have: `vars`, `props`, `log`, `ctx`.

use super::arguments::Arguments;
use super::sample;
use crate::scope::Place;
use crate::script::context::{Action, Field, Host, Store};
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Value};

/// A method of a part of the thread.
pub(super) fn method(
    machine: &mut Machine<'_>,
    host: Host,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match host {
        Host::Variables => variables(machine, name, call),
        Host::Properties => properties(machine, name, call),
        Host::Log => log(machine, name, call),
        Host::Out => match name {
            "println" | "print" | "printf" => Ok(Some(print(machine, &call.text(0)))),
            _ => Ok(None),
        },
        Host::Context => context(machine, name, call),
        Host::Thread | Host::Group | Host::Engine => thread(machine, host, name, call),
        _ => sample::method(machine, host, name, call),
    }
}

/// A line of a script's own; it goes to the log.
pub(super) fn print(machine: &mut Machine<'_>, text: &str) -> Value {
    machine.context.scope().log("INFO", text);
    Value::Null
}

fn variable(machine: &mut Machine<'_>, name: &str) -> Outcome<Value> {
    if let Some(object) = machine.context.object(Store::Variables, name) {
        return Ok(object);
    }
    match machine.context.scope().variable(name) {
        Some(text) => machine.text(text),
        None => Ok(Value::Null),
    }
}

fn variables(machine: &mut Machine<'_>, name: &str, call: Arguments<'_>) -> Outcome<Option<Value>> {
    let key = call.text(0);
    Ok(Some(match (name, call.len()) {
        ("get" | "getAt", 1) => match variable(machine, &key)? {
            text @ (Value::Text(_) | Value::Null) => text,
            object => machine.text(object.to_string())?,
        },
        ("getObject", 1) => variable(machine, &key)?,
        ("put", 2) => {
            put_variable(machine, &key, &call.get(1))?;
            Value::Null
        }
        ("putAt" | "putObject", 2) => {
            put_object(machine, Store::Variables, &key, &call.get(1))?;
            Value::Null
        }
        ("remove", 1) => {
            let before = variable(machine, &key)?;
            machine.context.set_object(Store::Variables, &key, None);
            machine.context.scope().remove_variable(&key);
            before
        }
        ("getIteration", 0) => Value::whole(machine.context.scope().iteration() as i64),
        ("incIteration", 0) => Value::Null,
        ("entrySet" | "getIterator" | "iterator", 0) => {
            let names = machine.context.names(Store::Variables);
            let mut rows = Vec::new();
            for name in names {
                rows.push((name.as_str().into(), variable(machine, &name)?));
            }
            Value::List(List::new(ListKind::Set, super::entries(&rows)))
        }
        _ => return Ok(None),
    }))
}

/// `vars.put`: Java takes a text there; Groovy makes one of a text with code, and refuses numbers.
fn put_variable(machine: &mut Machine<'_>, key: &str, value: &Value) -> Outcome<()> {
    match value {
        Value::Text(text) => {
            machine.context.set_object(Store::Variables, key, None);
            machine.context.scope().set_variable(key, text.to_string());
            Ok(())
        }
        Value::Null => {
            machine.context.scope().remove_variable(key);
            Ok(())
        }
        other
            if machine.language == crate::script::Language::JavaScript
                || machine.language.is_jexl() =>
        {
            let text = machine.written(other);
            machine.context.scope().set_variable(key, text);
            Ok(())
        }
        other => Err(crate::script::run::missing_method(
            "org.apache.jmeter.threads.JMeterVariables",
            "put",
            &[key.into(), other.clone()],
        )),
    }
}

/// Keeps a value: a text as a text, another one as an object.
fn put_object(machine: &mut Machine<'_>, store: Store, key: &str, value: &Value) -> Outcome<()> {
    if let Value::Text(text) = value {
        machine.context.set_object(store, key, None);
        match store {
            Store::Variables => machine.context.scope().set_variable(key, text.to_string()),
            Store::Properties => drop(machine.context.scope().set_property(key, text.to_string())),
        }
        return Ok(());
    }
    // Closures stand in frames that end with the run.
    if matches!(value, Value::Closure(_)) {
        return Err(throw("UnsupportedOperationException", "closures are not kept after a script"));
    }
    if machine.context.set_object(store, key, Some(value.clone())) {
        return Ok(());
    }
    Err(throw("UnsupportedOperationException", "objects are not kept here"))
}

fn properties(
    machine: &mut Machine<'_>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let key = call.text(0);
    Ok(Some(match (name, call.len()) {
        ("get" | "getProperty" | "getAt" | "getOrDefault", 1 | 2) => {
            if let Some(object) = machine.context.object(Store::Properties, &key) {
                return Ok(Some(object));
            }
            match machine.context.scope().property(&key) {
                Some(text) => machine.text(text)?,
                None => call.get(1),
            }
        }
        ("put" | "setProperty" | "putAt", 2) if call.get(1).is_null() => {
            return Err(throw("NullPointerException", "a property has a value"));
        }
        ("put" | "setProperty" | "putAt", 2) => {
            let before = machine.context.scope().property(&key);
            put_object(machine, Store::Properties, &key, &call.get(1))?;
            before.map_or(Value::Null, Value::from)
        }
        ("containsKey", 1) => {
            let is_object = machine.context.object(Store::Properties, &key).is_some();
            (is_object || machine.context.scope().property(&key).is_some()).into()
        }
        ("remove", 1) => {
            let before = machine.context.scope().property(&key);
            machine.context.set_object(Store::Properties, &key, None);
            if before.is_some() {
                machine.context.scope().remove_property(&key);
            }
            before.map_or(Value::Null, Value::from)
        }
        ("stringPropertyNames" | "keySet" | "propertyNames", 0) => {
            let names = machine.context.names(Store::Properties);
            let names = names.into_iter().map(Value::from).collect();
            Value::List(List::new(ListKind::Set, names))
        }
        _ => return Ok(None),
    }))
}

fn log(machine: &mut Machine<'_>, name: &str, call: Arguments<'_>) -> Outcome<Option<Value>> {
    let level = match name {
        "info" => "INFO",
        "warn" => "WARN",
        "error" => "ERROR",
        "debug" => "DEBUG",
        "trace" => "TRACE",
        "isInfoEnabled" | "isWarnEnabled" | "isErrorEnabled" => return Ok(Some(true.into())),
        "isDebugEnabled" | "isTraceEnabled" => return Ok(Some(false.into())),
        _ => return Ok(None),
    };
    let text = filled(machine, call);
    machine.allot(text.len())?;
    machine.context.scope().log(level, &text);
    Ok(Some(Value::Null))
}

/// The text of a log's line: each `{}` stands for an argument.
fn filled(machine: &Machine<'_>, call: Arguments<'_>) -> String {
    let mut text = call.get(0).to_string();
    for value in call.all().iter().skip(1) {
        match text.contains("{}") {
            true => text = text.replacen("{}", &machine.written(value), 1),
            // An exception goes to the end.
            false => text.extend(["\n", &value.to_string()]),
        }
    }
    text
}

fn context(machine: &mut Machine<'_>, name: &str, call: Arguments<'_>) -> Outcome<Option<Value>> {
    Ok(Some(match (name, call.len()) {
        // JMeter counts threads from 0 here.
        ("getThreadNum", 0) => Value::whole(machine.context.scope().thread_number() as i64 - 1),
        ("getVariables", 0) => Value::Host(Host::Variables),
        ("getProperties", 0) => Value::Host(Host::Properties),
        ("getPreviousResult", 0) => Value::Host(Host::Previous),
        ("getCurrentSampler" | "getPreviousSampler", 0) => Value::Host(Host::Sampler),
        ("getThread", 0) => Value::Host(Host::Thread),
        ("getThreadGroup", 0) => Value::Host(Host::Group),
        ("getEngine", 0) => Value::Host(Host::Engine),
        ("isRecording", 0) => false.into(),
        ("getSamplingStarted" | "isSamplingStarted", 0) => true.into(),
        ("setStartNextThreadLoop" | "setRestartNextLoop" | "setTestLogicalAction", _)
            if machine.context.act(Action::NextLoop) =>
        {
            Value::Null
        }
        _ => return Ok(None),
    }))
}

fn thread(
    machine: &mut Machine<'_>,
    host: Host,
    name: &str,
    _: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let group = || Place::Group;
    let action = match (host, name) {
        (Host::Thread, "getThreadName" | "getName") => {
            return Ok(Some(thread_name(machine)));
        }
        (Host::Group, "getName") => {
            return Ok(Some(machine.context.scope().place(group()).into()));
        }
        (Host::Group, "getNumThreads" | "getNumberOfThreads") => {
            return Ok(machine.context.read(Host::Group, Field::GroupThreads));
        }
        (Host::Thread, "getId") => {
            return Ok(Some(Value::whole(machine.context.scope().thread_number() as i64)));
        }
        (Host::Thread, "stop" | "interrupt") => Action::StopThread,
        (Host::Engine, "askThreadsToStop" | "stopTest") => Action::StopTest,
        (Host::Engine, "stopTestNow" | "exit") => Action::StopTestNow,
        _ => return Ok(None),
    };
    Ok(machine.context.act(action).then_some(Value::Null))
}

/// `Group 1-3`.
pub(super) fn thread_name(machine: &mut Machine<'_>) -> Value {
    if let Some(name) = machine.context.read(Host::Thread, Field::ThreadName) {
        return name;
    }
    let scope = machine.context.scope();
    format!("{} 1-{}", scope.place(Place::Group), scope.thread_number()).into()
}
