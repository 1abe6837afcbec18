//! `ScriptContext`: what of the thread and its sample a script reads and sets.

use crate::scope::{Place, Scope};

use super::value::Value;

/// A part of the thread that runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// `vars`.
    Variables,
    /// `props`.
    Properties,
    /// `log`.
    Log,
    /// `ctx`.
    Context,
    /// `OUT`.
    Out,
    /// `prev`: the sample before.
    Previous,
    /// `SampleResult`: the sample that is made.
    Result,
    /// `sampler`.
    Sampler,
    /// `sampler.getHeaderManager()`.
    Headers,
    /// `sampler.getArguments()`.
    Arguments,
    /// `sampler.getCookieManager()`.
    Cookies,
    /// `AssertionResult`.
    Assertion,
    /// `ctx.getThread()`.
    Thread,
    /// `ctx.getThreadGroup()`.
    Group,
    /// `ctx.getEngine()`.
    Engine,
}

impl Host {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Variables => "JMeterVariables",
            Self::Properties => "Properties",
            Self::Log => "Logger",
            Self::Context => "JMeterContext",
            Self::Out => "PrintStream",
            Self::Previous | Self::Result => "HTTPSampleResult",
            Self::Sampler => "HTTPSamplerProxy",
            Self::Headers => "HeaderManager",
            Self::Arguments => "Arguments",
            Self::Cookies => "CookieManager",
            Self::Assertion => "AssertionResult",
            Self::Thread => "JMeterThread",
            Self::Group => "ThreadGroup",
            Self::Engine => "StandardJMeterEngine",
        }
    }
}

/// A field of the samples, the sampler, the assertion and the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The code of the response, a text.
    Code,
    /// The message of the response, a text.
    Message,
    /// The label, a text.
    Label,
    /// The body as a text.
    Text,
    /// The body as bytes.
    Bytes,
    /// The header of the response, a text.
    ResponseHeaders,
    /// The header of the request, a text.
    RequestHeaders,
    /// What was requested, a text.
    RequestData,
    /// The address, a text.
    Url,
    /// Whether it is a success.
    Success,
    /// How long it took, in milliseconds.
    ElapsedMs,
    /// The time to the first byte, in milliseconds.
    LatencyMs,
    /// The time to a connection, in milliseconds.
    ConnectMs,
    /// When it began, in milliseconds since 1970.
    BeginMs,
    /// When it ended, in milliseconds since 1970.
    EndMs,
    /// The bytes of the response.
    BodyBytes,
    /// The bytes of the request.
    SentBytes,
    /// The `Content-Type` of the response, a text.
    ContentType,
    /// `text` or `bin`.
    DataType,
    /// The charset of the response.
    Encoding,
    /// The name of the thread, a text.
    ThreadName,
    /// The samples below it: how many.
    Children,
    /// Whether it is left out of the results.
    Ignored,
    /// Whether an assertion has failed.
    Failure,
    /// Why an assertion has failed, a text.
    FailureMessage,
    /// The name of the element, a text.
    Name,
    /// The protocol of the request.
    Protocol,
    /// The domain of the request.
    Domain,
    /// The port of the request.
    Port,
    /// The path of the request.
    Path,
    /// The method of the request.
    Method,
    /// The folder of the plan, a text.
    BaseDir,
    /// The name of the plan's file, a text.
    PlanFile,
    /// How many threads the group has.
    GroupThreads,
}

/// What a script has the thread do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The thread ends after this sample.
    StopThread,
    /// The test ends, the samples that run included in it.
    StopTest,
    /// The test ends at once.
    StopTestNow,
    /// The thread goes on with the next iteration.
    NextLoop,
    /// The sample takes its time from now.
    BeginSample,
    /// The sample takes its time until now.
    EndSample,
    /// A field of the request is set: its name, its value.
    PutHeader(String, String),
    /// A field of the request is removed.
    RemoveHeader(String),
    /// An argument of the request is added: its name, its value.
    AddArgument(String, String),
    /// All arguments of the request are removed.
    ClearArguments,
    /// A body takes the place of the arguments.
    SetBody(String),
    /// A cookie is added: its name, its value, its domain, its path.
    AddCookie(String, String, String, String),
    /// All cookies are removed.
    ClearCookies,
}

/// Where values are kept that are no texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// Among the thread's variables.
    Variables,
    /// Among the properties of all threads.
    Properties,
}

/// What of its thread a script reads and sets. A method that is left out is of a thread that has no such part.
pub trait ScriptContext {
    /// Variables, properties, random numbers, the time, the log.
    fn scope(&mut self) -> &mut dyn Scope;

    /// A value that is no text.
    fn object(&mut self, _store: Store, _name: &str) -> Option<Value> {
        None
    }

    /// Keeps a value that is no text; `None` removes it. Whether there is room for it.
    fn set_object(&mut self, _store: Store, _name: &str, _value: Option<Value>) -> bool {
        false
    }

    /// The names of all variables or properties.
    fn names(&mut self, _store: Store) -> Vec<String> {
        Vec::new()
    }

    /// A field of a part; `None` where the part is not there or has no such field.
    fn read(&mut self, host: Host, field: Field) -> Option<Value>;

    /// Sets a field of a part; whether it could be set.
    fn write(&mut self, _host: Host, _field: Field, _value: &Value) -> bool {
        false
    }

    /// Does something; whether the thread can.
    fn act(&mut self, _action: Action) -> bool {
        false
    }

    /// Keeps the thread waiting.
    fn sleep(&mut self, _ms: u64) {}

    /// A variable of the environment.
    fn environment(&mut self, _name: &str) -> Option<String> {
        None
    }

    /// By how many seconds a zone is ahead of UTC at a moment; `None` of a zone that is not known.
    fn zone_offset_s(&mut self, _zone: &str, _unix_ms: i64) -> Option<i32> {
        None
    }

    /// A script has ended that has made so many bytes of texts and lists. Values that are kept may have grown by them.
    fn note_made(&mut self, _bytes: usize) {}

    /// Whether the script has to end.
    fn is_over(&mut self) -> bool {
        false
    }
}

/// A scope alone as the context of a script: its variables, its properties and the sample before.
pub struct ScopeContext<'a>(pub &'a mut dyn Scope);

impl ScriptContext for ScopeContext<'_> {
    fn scope(&mut self) -> &mut dyn Scope {
        self.0
    }

    fn read(&mut self, host: Host, field: Field) -> Option<Value> {
        match (host, field) {
            (Host::Previous, field) => previous(self.0, field),
            (Host::Sampler, Field::Name) => Some(self.0.place(Place::Sampler).into()),
            (Host::Group, Field::Name) => Some(self.0.place(Place::Group).into()),
            _ => None,
        }
    }
}

/// A field of the sample before.
fn previous(scope: &dyn Scope, field: Field) -> Option<Value> {
    let mut found = None;
    scope.previous_sample(&mut |sample| {
        found = match field {
            Field::Code => Some(sample.code.into()),
            Field::Message => Some(sample.message.into()),
            Field::Label => Some(sample.label.into()),
            Field::Text => Some(sample.text.into()),
            Field::Bytes => Some(Value::bytes(sample.body)),
            Field::ResponseHeaders => Some(sample.response_headers.into()),
            Field::RequestHeaders => Some(sample.request_headers.into()),
            Field::RequestData => Some(sample.request_data.into()),
            Field::Url => Some(sample.url.into()),
            Field::Success => Some(sample.is_success.into()),
            Field::ElapsedMs => i64::try_from(sample.elapsed_ms).ok().map(Value::Long),
            Field::ContentType => Some(sample.content_type.into()),
            Field::BodyBytes => i64::try_from(sample.body_bytes).ok().map(Value::Long),
            Field::Children => Some(Value::count(sample.children.len())),
            _ => None,
        };
    });
    found
}
