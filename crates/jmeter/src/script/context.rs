//! `Context`: the thread, the sample and the assertion as a script reads and sets them.

use jmx::{Action, Field, Host, Scope, ScriptContext, Store, Value};

use crate::http::fields::Fields;
use crate::plan::node::SamplerNode;
use crate::results::sample::{AssertionResult, SampleResult};
use crate::thread::after::After;
use crate::thread::scope::Thread;
use crate::walk::Logic;
use crate::world::{Stopping, lock};

/// The longest wait of one script: an hour.
const SLEEP_MAX_MS: u64 = 3_600_000;

/// What a script has of its thread.
pub(super) struct Context<'a> {
    pub(super) thread: &'a mut Thread,
    node: Option<&'a SamplerNode>,
    /// The sample that a sampler makes.
    made: Option<&'a mut SampleResult>,
    /// The sample that processors and assertions look at.
    seen: Option<&'a mut SampleResult>,
    assertion: Option<&'a mut AssertionResult>,
}

impl<'a> Context<'a> {
    /// Of what runs before a sampler.
    pub(super) fn before(thread: &'a mut Thread, node: &'a SamplerNode) -> Self {
        Self { thread, node: Some(node), made: None, seen: None, assertion: None }
    }

    /// Of a sampler.
    pub(super) fn making(
        thread: &'a mut Thread,
        node: &'a SamplerNode,
        made: &'a mut SampleResult,
    ) -> Self {
        Self { thread, node: Some(node), made: Some(made), seen: None, assertion: None }
    }

    /// Of what runs after a sampler.
    pub(super) fn after(thread: &'a mut Thread, seen: &'a mut SampleResult) -> Self {
        Self { thread, node: None, made: None, seen: Some(seen), assertion: None }
    }

    /// Of an assertion.
    pub(super) fn judging(
        thread: &'a mut Thread,
        seen: &'a mut SampleResult,
        assertion: &'a mut AssertionResult,
    ) -> Self {
        Self { thread, node: None, made: None, seen: Some(seen), assertion: Some(assertion) }
    }

    /// Looks at the sample that a part is.
    fn with_sample<R>(&self, host: Host, look: impl FnOnce(&SampleResult) -> R) -> Option<R> {
        let own = if host == Host::Result { self.made.as_deref() } else { self.seen.as_deref() };
        match (own, &self.thread.previous, host) {
            (Some(sample), ..) => Some(look(sample)),
            (None, Some(previous), Host::Previous) => previous.try_borrow().ok().map(|s| look(&s)),
            _ => None,
        }
    }

    fn sampler_field(&mut self, name: &'static str) -> Option<Value> {
        if let Some(value) = self.thread.changes.field(name) {
            return Some(value.into());
        }
        let fields = Fields::of(self.node?);
        Some(fields.text(name, self.thread).into())
    }

    fn stop(&mut self, how: Stopping) {
        self.thread.world.stop(self.thread.kind(), how);
        self.thread.wishes.after = Some(After::Stop);
    }
}

/// The property of a sampler that a field is.
fn property(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Protocol => "HTTPSampler.protocol",
        Field::Domain => "HTTPSampler.domain",
        Field::Port => "HTTPSampler.port",
        Field::Path => "HTTPSampler.path",
        Field::Method => "HTTPSampler.method",
        _ => return None,
    })
}

/// A field of a sample.
fn sample_field(sample: &SampleResult, field: Field) -> Option<Value> {
    let long = |number: u64| Value::Long(i64::try_from(number).unwrap_or(i64::MAX));
    Some(match field {
        Field::Code => sample.code.as_str().into(),
        Field::Message => sample.message.as_str().into(),
        Field::Label => sample.label.as_str().into(),
        Field::Text => sample.text.as_str().into(),
        Field::Bytes => Value::bytes(&sample.body),
        Field::ResponseHeaders => sample.response_headers.as_str().into(),
        Field::RequestHeaders => sample.request_headers.as_str().into(),
        Field::RequestData => sample.request_data().into(),
        Field::Url => sample.url.as_str().into(),
        Field::Success => sample.is_success.into(),
        Field::ElapsedMs => long(sample.elapsed_ms),
        Field::LatencyMs => long(sample.latency_ms),
        Field::ConnectMs => long(sample.connect_ms),
        Field::BeginMs => Value::Long(sample.start_ms),
        Field::EndMs => Value::Long(sample.end_ms()),
        Field::BodyBytes => long(sample.body_bytes),
        Field::SentBytes => long(sample.sent_bytes),
        Field::ContentType => sample.content_type.as_str().into(),
        Field::DataType => sample.data_type.into(),
        Field::Encoding => sample.encoding.as_str().into(),
        Field::ThreadName => sample.thread.as_str().into(),
        Field::Children => long(sample.children.len() as u64),
        _ => return None,
    })
}

/// Sets a field of a sample; whether it has such a field.
fn set_sample_field(sample: &mut SampleResult, field: Field, value: &Value) -> bool {
    let text = value.to_string();
    let number = || value.as_long().and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    match field {
        Field::Code => sample.code = text,
        Field::Message => sample.message = text,
        Field::Label => sample.label = text,
        Field::Text => sample.set_text(&text),
        Field::Bytes => match value {
            Value::Bytes(bytes) => sample.set_text(&String::from_utf8_lossy(bytes)),
            _ => sample.set_text(&text),
        },
        Field::Success => sample.is_success = value.is_true(),
        Field::ResponseHeaders => sample.response_headers = text,
        Field::RequestHeaders => sample.request_headers = text,
        Field::RequestData => sample.query = text,
        Field::ContentType => sample.content_type = text,
        Field::Encoding => sample.encoding = text,
        Field::DataType => sample.data_type = if text == "bin" { "bin" } else { "text" },
        Field::LatencyMs => sample.latency_ms = number(),
        Field::ConnectMs => sample.connect_ms = number(),
        Field::BodyBytes => sample.body_bytes = number(),
        Field::SentBytes => sample.sent_bytes = number(),
        Field::ThreadName => sample.thread = text,
        _ => return false,
    }
    true
}

impl ScriptContext for Context<'_> {
    fn scope(&mut self) -> &mut dyn Scope {
        self.thread
    }

    fn object(&mut self, store: Store, name: &str) -> Option<Value> {
        match store {
            Store::Variables => self.thread.objects.get(name),
            Store::Properties => lock(&self.thread.world.objects).get(name),
        }
    }

    fn set_object(&mut self, store: Store, name: &str, value: Option<Value>) -> bool {
        let mut shared = lock(&self.thread.world.objects);
        let objects = match store {
            Store::Variables => &mut self.thread.objects,
            Store::Properties => &mut *shared,
        };
        objects.set(name, value)
    }

    fn note_made(&mut self, bytes: usize) {
        self.thread.objects.note_made(bytes);
        lock(&self.thread.world.objects).note_made(bytes);
    }

    fn names(&mut self, store: Store) -> Vec<String> {
        match store {
            Store::Variables => self.thread.variables.names(),
            Store::Properties => lock(&self.thread.world.properties).names(),
        }
    }

    fn read(&mut self, host: Host, field: Field) -> Option<Value> {
        match (host, field) {
            (Host::Previous | Host::Result, _) => {
                self.with_sample(host, |sample| sample_field(sample, field)).flatten()
            }
            (Host::Sampler, Field::Name) => Some(self.thread.sampler.as_str().into()),
            (Host::Sampler, _) => self.sampler_field(property(field)?),
            (Host::Assertion, Field::Failure) => {
                Some(self.assertion.as_ref().is_some_and(|result| result.is_failure).into())
            }
            (Host::Assertion, Field::FailureMessage) => {
                Some(self.assertion.as_ref().map_or("", |result| result.message.as_str()).into())
            }
            (Host::Thread, Field::ThreadName) => Some(self.thread.name.as_str().into()),
            (Host::Engine, Field::BaseDir) => Some(".".into()),
            (Host::Engine, Field::PlanFile) => {
                Some(self.thread.world.plan.file_name.as_str().into())
            }
            (Host::Group, Field::GroupThreads) => {
                let threads = self.thread.program.groups[self.thread.group].threads;
                i64::try_from(threads).ok().map(Value::Long)
            }
            _ => None,
        }
    }

    fn write(&mut self, host: Host, field: Field, value: &Value) -> bool {
        match (host, field) {
            (Host::Previous | Host::Result, Field::Ignored) => {
                self.thread.wishes.is_ignored = value.is_true();
                true
            }
            (Host::Result, _) => {
                self.made.as_deref_mut().is_some_and(|made| set_sample_field(made, field, value))
            }
            (Host::Previous, _) => {
                self.seen.as_deref_mut().is_some_and(|seen| set_sample_field(seen, field, value))
            }
            (Host::Sampler, _) => {
                let property = property(field);
                let change = property.map(|name| (name, value.to_string()));
                self.thread.changes.fields.extend(change);
                property.is_some()
            }
            (Host::Assertion, _) => {
                let Some(result) = self.assertion.as_deref_mut() else { return false };
                match field {
                    Field::Failure => result.is_failure = value.is_true(),
                    Field::FailureMessage => result.message = value.to_string(),
                    _ => return false,
                }
                true
            }
            _ => false,
        }
    }

    fn act(&mut self, action: Action) -> bool {
        let changes = &mut self.thread.changes;
        match action {
            Action::StopThread => self.thread.wishes.after = Some(After::Stop),
            Action::StopTest => self.stop(Stopping::Gracefully),
            Action::StopTestNow => self.stop(Stopping::Now),
            Action::NextLoop => self.thread.wishes.after = Some(After::Go(Logic::NextThreadLoop)),
            Action::BeginSample | Action::EndSample => {}
            Action::PutHeader(name, value) => changes.headers.push((name, Some(value))),
            Action::RemoveHeader(name) => changes.headers.push((name, None)),
            Action::AddArgument(name, value) => changes.arguments.push((name, value)),
            Action::ClearArguments => changes.clears = true,
            Action::SetBody(body) => changes.body = Some(body),
            Action::AddCookie(..) | Action::ClearCookies => return false,
        }
        true
    }

    fn sleep(&mut self, ms: u64) {
        let wishes = &mut self.thread.wishes;
        wishes.sleep_ms = wishes.sleep_ms.saturating_add(ms).min(SLEEP_MAX_MS);
    }

    fn environment(&mut self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn is_over(&mut self) -> bool {
        self.thread.stopping() == Some(Stopping::Now)
    }
}
