//! Scripts of plans: JSR 223 and BeanShell elements, run by the interpreter of `jmx`.

mod changes;
mod context;

use jmx::{Bindings, Class, Host, Language, Script, Value, script_language, script_property};

pub(crate) use changes::{Changes, Wishes};
use context::Context;

use crate::plan::node::{Part, SamplerNode};
use crate::results::sample::{AssertionResult, SampleKind, SampleResult};
use crate::thread::scope::Thread;
use crate::world::LogLevel;

/// Whether elements of a class are scripts.
pub(crate) fn is_script(class: Class) -> bool {
    class.is_jsr223() || class.is_beanshell()
}

/// A script that is about to run: its text, and what its element gives to it.
struct ScriptRun {
    name: String,
    is_beanshell: bool,
    language: Option<Language>,
    /// The language as it is written.
    written: String,
    text: String,
    bindings: Bindings,
}

impl ScriptRun {
    /// The script of an element, its references evaluated.
    fn of(part: &Part, thread: &mut Thread) -> Self {
        let class = part.class();
        let text = |thread: &mut Thread, name| {
            thread.property_text(&part.element, script_property(class, name))
        };
        let (parameters, file) = (text(thread, "parameters"), text(thread, "filename"));
        let script = match file.trim() {
            "" => text(thread, "script"),
            path => jmx::Scope::file(thread, path, "").unwrap_or_default(),
        };
        let name = part.element.name.evaluate(thread);
        let arguments = Value::texts(parameters.split_whitespace());
        let bindings = Bindings::standard()
            .with("Label", name.as_str().into())
            .with("Parameters", parameters.as_str().into())
            .with("FileName", file.as_str().into())
            .with("args", arguments.clone())
            .with("bsh", Value::map([("args", arguments)]));
        let written = thread.property_text(&part.element, "scriptLanguage");
        let language = script_language(class, &written);
        Self { name, is_beanshell: class.is_beanshell(), language, written, text: script, bindings }
    }

    /// Runs it: its value, or JMeter's words for why it failed, which the log has too.
    fn run(&mut self, context: &mut Context<'_>) -> Result<Value, ScriptFailure> {
        let outcome = self.value(context);
        if let Err(failure) = &outcome {
            let (level, from, kind) = match self.is_beanshell {
                true => (LogLevel::Warn, "o.a.j.u.BeanShellTestElement", "BeanShell"),
                false => (LogLevel::Error, "o.a.j.p.j.s.JSR223", "JSR223"),
            };
            let text = format!("Problem in {kind} script, {}, message: {failure}", self.name);
            context.thread.write_log(level, from, &text);
        }
        outcome
    }

    fn value(&mut self, context: &mut Context<'_>) -> Result<Value, ScriptFailure> {
        let language = self.language.ok_or_else(|| {
            ScriptFailure(format!("Cannot find engine named: '{}', ensure you set language field in JSR223 Test Element: {}", self.written, self.name))
        })?;
        let kind = if self.is_beanshell {
            "org.apache.jorphan.util.JMeterException"
        } else {
            "javax.script.ScriptException"
        };
        let script = Script::of(language, &self.text).map_err(|problems| {
            let problem = problems.first().map(ToString::to_string).unwrap_or_default();
            ScriptFailure(format!("{kind}: {problem}"))
        })?;
        script
            .run(context, &mut self.bindings)
            .map_err(|error| ScriptFailure(format!("{kind}: {error}, line {}", error.line())))
    }
}

/// Why a script failed, in JMeter's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct ScriptFailure(String);

/// A sampler that is a script: its sample.
pub(crate) fn sample(part: &Part, node: &SamplerNode, thread: &mut Thread) -> SampleResult {
    let mut run = ScriptRun::of(part, thread);
    let mut sample = new_sample(thread, &run);
    let previous = run.bindings.clone().with("SampleResult", Value::Host(Host::Result));
    run.bindings = match run.is_beanshell {
        true => previous
            .with("ResponseCode", "200".into())
            .with("ResponseMessage", "OK".into())
            .with("IsSuccess", true.into()),
        false => previous,
    };
    let outcome = run.run(&mut Context::making(thread, node, &mut sample));
    sample.elapsed_ms =
        u64::try_from(thread.unix_ms_now() - sample.start_ms).unwrap_or(0) + thread.wishes.sleep_ms;
    match outcome {
        Ok(value) => {
            if run.is_beanshell {
                take_response(&run.bindings, &mut sample);
            }
            if !value.is_null() {
                sample.set_text(&value.to_string());
            }
        }
        Err(failure) => {
            sample.is_success = false;
            "500".clone_into(&mut sample.code);
            sample.message = failure.to_string();
        }
    }
    sample
}

fn new_sample(thread: &Thread, _: &ScriptRun) -> SampleResult {
    SampleResult {
        start_ms: thread.unix_ms_now(),
        kind: SampleKind::Plain,
        code: "200".to_owned(),
        message: "OK".to_owned(),
        is_success: true,
        data_type: "text",
        ..SampleResult::default()
    }
}

/// What a BeanShell sampler has set of its response.
fn take_response(bindings: &Bindings, sample: &mut SampleResult) {
    let text = |name: &str| bindings.get(name).map(Value::to_string).unwrap_or_default();
    (sample.code, sample.message) = (text("ResponseCode"), text("ResponseMessage"));
    sample.is_success = bindings.get("IsSuccess").is_some_and(Value::is_true);
}

/// A script before a sampler.
pub(crate) fn before(part: &Part, node: &SamplerNode, thread: &mut Thread) {
    let mut run = ScriptRun::of(part, thread);
    // The log has what fails.
    run.run(&mut Context::before(thread, node)).ok();
}

/// A script behind a sampler, which may change its sample.
pub(crate) fn after(part: &Part, sample: &mut SampleResult, thread: &mut Thread) {
    let mut run = ScriptRun::of(part, thread);
    run.bindings.set("data", Value::bytes(&sample.body));
    run.run(&mut Context::after(thread, sample)).ok();
}

/// A script that judges a sample.
pub(crate) fn judge(
    part: &Part,
    sample: &mut SampleResult,
    result: &mut AssertionResult,
    thread: &mut Thread,
) {
    let mut run = ScriptRun::of(part, thread);
    run.bindings = judged(run.bindings.clone(), sample);
    let outcome = run.run(&mut Context::judging(thread, sample, result));
    match outcome {
        Ok(_) if run.is_beanshell => {
            let text = run.bindings.get("FailureMessage").map(Value::to_string);
            result.is_failure = run.bindings.get("Failure").is_some_and(Value::is_true);
            result.message = text.unwrap_or_default();
        }
        Ok(_) => {}
        Err(failure) => {
            result.is_error = true;
            result.message = failure.to_string();
        }
    }
}

/// What an assertion gives to its script.
fn judged(bindings: Bindings, sample: &SampleResult) -> Bindings {
    bindings
        .with("AssertionResult", Value::Host(Host::Assertion))
        .with("SampleResult", Value::Host(Host::Previous))
        .with("Response", Value::Host(Host::Previous))
        .with("Failure", false.into())
        .with("FailureMessage", "".into())
        .with("ResponseData", Value::bytes(&sample.body))
        .with("ResponseCode", sample.code.as_str().into())
        .with("ResponseMessage", sample.message.as_str().into())
        .with("ResponseHeaders", sample.response_headers.as_str().into())
        .with("RequestHeaders", sample.request_headers.as_str().into())
        .with("SampleLabel", sample.label.as_str().into())
        .with("SamplerData", sample.request_data().into())
}

/// A script that sees a sample.
pub(crate) fn listen(part: &Part, sample: &SampleResult, thread: &mut Thread) {
    let mut run = ScriptRun::of(part, thread);
    let mut sample = sample.clone();
    run.bindings.set("sampleResult", Value::Host(Host::Previous));
    run.run(&mut Context::after(thread, &mut sample)).ok();
}

/// How long a script that is a timer delays a sampler, in milliseconds.
pub(crate) fn delay_ms(part: &Part, node: &SamplerNode, thread: &mut Thread) -> u64 {
    let mut run = ScriptRun::of(part, thread);
    let value = run.run(&mut Context::before(thread, node)).unwrap_or_default();
    let number = value.as_long().or_else(|| value.to_string().trim().parse().ok());
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}
