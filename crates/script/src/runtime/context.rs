//! `VuContext`: what a VU's JavaScript functions share with their VU.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use metrics::tally::MetricId;
use rquickjs::{Ctx, Exception as JsException, Result};
use users::{
    ExecutionInfo, Host, HttpRequest, MetricRegistry, Sample, SharedJar, Stage, Statuses, TagList,
};

use super::coroutine::VuSuspender;
use super::event_loop::EventLoop;
use super::known_urls::KnownUrls;
use crate::loader::files::Files;
use crate::loader::store::Store;

/// Samples that wait to be taken; more than these are dropped and counted.
const SAMPLES_MAX: usize = 1 << 16;
/// Bytes of their tags, at most: 16 MiB.
const TAG_BYTES_MAX: usize = 16 << 20;

/// The bytes of tags.
fn bytes_of(tags: Option<&TagList>) -> usize {
    tags.into_iter().flatten().map(|(name, value)| name.len() + value.len()).sum()
}

/// What a VU's functions share with their VU.
pub(crate) struct VuContext {
    /// The metrics that scripts declared.
    pub(crate) registry: RefCell<MetricRegistry>,
    pub(crate) host: Rc<dyn Host>,
    pub(crate) suspender: VuSuspender,
    pub(crate) stage: Cell<Stage>,
    /// The iteration is to end: nothing is asked for any more.
    pub(crate) stopped: Cell<bool>,
    /// What the script has under way.
    pub(crate) events: EventLoop,
    pub(crate) group: RefCell<Rc<str>>,
    /// The thread's.
    pub(crate) urls: Rc<KnownUrls>,
    /// What it shares with the script's other VUs.
    pub(crate) store: OnceCell<Arc<Store>>,
    /// Of each module that is run in the middle of others, the innermost last: how many frames of modules are below it.
    pub(crate) evaluations: RefCell<Vec<usize>>,
    /// The modules that wait for the names of what they import.
    pub(crate) importers: RefCell<Vec<String>>,
    /// Where files are, while the script is run for the first time.
    pub(crate) files: RefCell<Option<Rc<dyn Files>>>,
    /// The tags of all the VU's samples (`exec.vu.metrics.tags`); replaced as a whole, `None` for none.
    pub(crate) vu_tags: RefCell<Option<Rc<TagList>>>,
    /// The same of `exec.vu.metrics.metadata`.
    pub(crate) metadata: RefCell<Option<Rc<TagList>>>,
    /// The jar of requests that name none.
    pub(crate) jar: RefCell<SharedJar>,
    /// Which statuses are no failure, where a request does not say.
    pub(crate) expected: RefCell<Statuses>,
    /// The numbers of its channels of gRPC.
    pub(crate) channels: ChannelNumbers,
    /// The VU's number, from 1; 0 of the VU that calls `setup` and `teardown`.
    pub(crate) number: Cell<u64>,
    /// Where the iteration stands in the test.
    pub(crate) execution: RefCell<ExecutionInfo>,
    /// The next call is the first in its scenario.
    pub(crate) new_scenario: Cell<bool>,
    /// The environment has variables of the scenario.
    pub(crate) has_scenario_env: Cell<bool>,
    /// The state of the VU's own random numbers, once it has some.
    pub(crate) random: Cell<Option<u64>>,
    samples: RefCell<Vec<Sample>>,
    /// Bytes of their own tags.
    tag_bytes: Cell<usize>,
    samples_dropped: Cell<u64>,
}

/// Numbers of channels; those that are given back are used again, so that there are no more than are open at once.
#[derive(Default)]
pub(crate) struct ChannelNumbers {
    free: RefCell<Vec<u32>>,
    next: Cell<u32>,
}

impl ChannelNumbers {
    /// A number that no other open channel has.
    pub(crate) fn take(&self) -> u32 {
        let free = self.free.borrow_mut().pop();
        free.unwrap_or_else(|| self.next.replace(self.next.get().wrapping_add(1)))
    }

    /// A channel is closed.
    pub(crate) fn give(&self, number: u32) {
        self.free.borrow_mut().push(number);
    }
}

impl VuContext {
    pub(crate) fn new(host: Rc<dyn Host>, urls: Rc<KnownUrls>) -> Self {
        Self {
            urls,
            registry: RefCell::default(),
            host,
            suspender: VuSuspender::new(),
            stage: Cell::new(Stage::Init),
            stopped: Cell::new(false),
            events: EventLoop::new(),
            group: RefCell::new("".into()),
            store: OnceCell::new(),
            evaluations: RefCell::default(),
            importers: RefCell::default(),
            files: RefCell::new(None),
            vu_tags: RefCell::default(),
            metadata: RefCell::default(),
            jar: RefCell::default(),
            expected: RefCell::default(),
            channels: ChannelNumbers::default(),
            number: Cell::new(0),
            execution: RefCell::default(),
            new_scenario: Cell::new(false),
            has_scenario_env: Cell::new(false),
            random: Cell::new(None),
            samples: RefCell::new(Vec::new()),
            tag_bytes: Cell::new(0),
            samples_dropped: Cell::new(0),
        }
    }

    /// An iteration begins: cookies of the one before are gone, unless they are to stay.
    pub(crate) fn renew_jar(&self) {
        // One that is empty but held by the script is another's all the same.
        let jar = &mut *self.jar.borrow_mut();
        let unused = Rc::strong_count(jar) == 1 && jar.borrow().is_empty();
        if !unused && !self.host.http_rules().keeps_cookies {
            *jar = SharedJar::default();
        }
    }

    /// Whether the script is to end now, asked by QuickJS every few thousand steps of it.
    pub(crate) fn interrupts(&self) -> bool {
        if !self.stopped.get() && self.host.interrupts() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    /// What the script's VUs share.
    ///
    /// # Errors
    /// It has none yet: its modules were not begun.
    pub(crate) fn store(&self, ctx: &Ctx<'_>) -> Result<&Arc<Store>> {
        self.store.get().ok_or_else(|| JsException::throw_internal(ctx, "this VU has no script"))
    }

    /// Refuses what is not for the init stage.
    ///
    /// # Errors
    /// It is the init stage: a JavaScript exception is thrown.
    #[inline]
    pub(crate) fn require_started(&self, ctx: &Ctx<'_>, what: &str) -> Result<()> {
        if self.stage.get() == Stage::Init { Err(not_started(ctx, what)) } else { Ok(()) }
    }

    /// Keeps a sample until the host takes it.
    pub(crate) fn sample(&self, metric: MetricId, value: f64, tags: Option<Rc<TagList>>) {
        self.keep(metric, value, None, tags);
    }

    /// Keeps a check's sample until the host takes it.
    pub(crate) fn check(&self, name: &str, passed: bool, tags: Option<Rc<TagList>>) {
        let name = self.host.intern(name);
        self.keep(MetricId::CHECKS, f64::from(u8::from(passed)), Some(name), tags);
    }

    fn keep(
        &self,
        metric: MetricId,
        value: f64,
        check: Option<Rc<str>>,
        tags: Option<Rc<TagList>>,
    ) {
        let mut samples = self.samples.borrow_mut();
        let bytes = self.tag_bytes.get() + bytes_of(tags.as_deref());
        if samples.len() == SAMPLES_MAX || bytes > TAG_BYTES_MAX {
            self.samples_dropped.set(self.samples_dropped.get() + 1);
            return;
        }
        let (at, group) = (self.host.sampled_at(), Rc::clone(&self.group.borrow()));
        let (vu_tags, metadata) = (self.vu_tags.borrow().clone(), self.metadata.borrow().clone());
        self.tag_bytes.set(bytes);
        samples.push(Sample { metric, at, value, group, check, tags, vu_tags, metadata });
    }

    /// A request for a URL, with the VU's group, tags and metadata of this moment.
    pub(crate) fn new_request(&self, url: Rc<str>) -> HttpRequest {
        HttpRequest {
            vu_tags: self.vu_tags.borrow().clone(),
            metadata: self.metadata.borrow().clone(),
            ..HttpRequest::new(url, Rc::clone(&self.group.borrow()))
        }
    }

    pub(crate) fn has_samples(&self) -> bool {
        !self.samples.borrow().is_empty()
    }

    pub(crate) fn take_samples(&self, into: &mut Vec<Sample>) {
        self.tag_bytes.set(0);
        into.append(&mut self.samples.borrow_mut());
    }

    pub(crate) fn samples_dropped(&self) -> u64 {
        self.samples_dropped.get()
    }
}

#[cold]
fn not_started(ctx: &Ctx<'_>, what: &str) -> rquickjs::Error {
    JsException::throw_message(ctx, &format!("{what} in the init context is not supported"))
}
