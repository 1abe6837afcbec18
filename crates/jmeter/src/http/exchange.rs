//! `Exchange`: an HTTP sampler under way: its request, its redirects, its embedded resources.

use jmx::Class;
use users::{HttpRequest, HttpResponse, response_head};
use wire::url::Url;

use super::embedded::{RESOURCES_MAX, resources};
use super::receive::{fill, hash, refuse};
use super::reference::joined as joined_address;
use super::send::{Ask, ReadyRequest, request};
use super::spec::{HttpSpec, SpecError};
use crate::plan::node::SamplerNode;
use crate::plan::property::flag;
use crate::results::sample::SampleResult;
use crate::thread::scope::Thread;
use crate::world::LogLevel;

/// Redirects of one sample at most.
const REDIRECTS_MAX: usize = 20;

/// An HTTP sampler under way.
pub(crate) struct Exchange {
    spec: HttpSpec,
    /// The result so far, of the sampler or of the resource that is asked for.
    main: Option<SampleResult>,
    /// What is under way.
    asked: Option<(Ask, SampleResult, stdx::Nanos)>,
    redirects: usize,
    /// The pages whose resources are asked for, each a resource of the one before.
    pages: Vec<Page>,
    /// How many resources all of them have.
    found: usize,
    /// Bytes of what its resources have said so far.
    resource_bytes: usize,
    /// What was asked for last was another server than the sampler's.
    is_away: bool,
}

/// A page, while its resources are asked for.
struct Page {
    sample: SampleResult,
    /// Addresses that are still to be asked for, the last first.
    left: Vec<String>,
    /// It was of another server than the sampler's.
    is_away: bool,
}

/// What an exchange comes to.
pub(crate) enum Step {
    /// A request is to be sent.
    Send(Box<HttpRequest>),
    /// It is over.
    Done(Box<SampleResult>),
    /// It is over without a sample: the cache has the answer.
    Nothing,
}

impl Exchange {
    /// Begins the request of a sampler.
    pub(crate) fn begin(node: &SamplerNode, thread: &mut Thread) -> (Self, Step) {
        let spec = HttpSpec::read(node, thread);
        let mut new = Self {
            spec: HttpSpec::default(),
            main: None,
            asked: None,
            redirects: 0,
            pages: Vec::new(),
            found: 0,
            resource_bytes: 0,
            is_away: false,
        };
        let step = match spec {
            Ok(spec) => {
                new.spec = spec;
                new.first(node, thread)
            }
            Err(error) => Step::Done(Box::new(new.refusal(&error, thread))),
        };
        (new, step)
    }

    fn first(&mut self, node: &SamplerNode, thread: &mut Thread) -> Step {
        let spec = &self.spec;
        if let Some(step) = fresh(spec, node, thread) {
            return step;
        }
        let (method, url, body) = (spec.method.clone(), spec.url.clone(), spec.body.clone());
        let ask = Ask { method, url, body, is_away: false };
        self.send(node, ask, thread)
    }

    fn send(&mut self, node: &SamplerNode, ask: Ask, thread: &mut Thread) -> Step {
        match self.try_send(node, ask, thread) {
            Ok(step) => step,
            Err(refused) => self.finish(*refused, None, node, thread),
        }
    }

    /// Sends a request; the sample of one that cannot be sent.
    fn try_send(
        &mut self,
        node: &SamplerNode,
        ask: Ask,
        thread: &mut Thread,
    ) -> Result<Step, Box<SampleResult>> {
        self.is_away = ask.is_away;
        match request(node, &self.spec, &ask, thread) {
            Ok(ReadyRequest { request, sample, at }) => {
                self.asked = Some((ask, sample, at));
                Ok(Step::Send(request))
            }
            Err(error) => Err(Box::new(self.refusal(&error, thread))),
        }
    }

    fn refusal(&self, error: &SpecError, thread: &Thread) -> SampleResult {
        let mut sample = SampleResult {
            start_ms: thread.unix_ms_now(),
            url: error.url.clone(),
            method: self.spec.method.clone(),
            ..SampleResult::default()
        };
        refuse(&mut sample, error.class, &error.message);
        sample
    }

    /// Takes the answer to what was sent.
    pub(crate) fn answer(
        &mut self,
        response: HttpResponse,
        node: &SamplerNode,
        thread: &mut Thread,
    ) -> Step {
        let Some((ask, mut sample, at)) = self.asked.take() else { return Step::Nothing };
        let location = response.head.as_deref().and_then(response_head::location);
        let is_digest =
            response.asked.as_ref().is_some_and(|asked| asked.auth == users::Auth::Digest);
        fill(&mut sample, response, node, thread);
        if self.spec.hashes && sample.is_success {
            hash(&mut sample);
        }
        if is_digest {
            // The times are those of the last of two requests alone.
            let spent = thread.host.now().saturating_sub(at).0 / 1_000_000;
            sample.elapsed_ms = sample.elapsed_ms.max(spent);
        }
        self.finish(sample, Some((ask, location)), node, thread)
    }

    /// A hop is over: another follows, or the sample is complete.
    fn finish(
        &mut self,
        sample: SampleResult,
        answered: Option<(Ask, Option<String>)>,
        node: &SamplerNode,
        thread: &mut Thread,
    ) -> Step {
        if let Some((ask, location)) = answered
            && let Some(next) = self.redirect(&sample, &ask, location)
        {
            return self.follow(sample, next, node, thread);
        }
        let whole = match self.main.take() {
            None => sample,
            Some(main) => joined(main, sample, self.spec.follows_silently),
        };
        self.complete(whole, node, thread)
    }

    /// What a redirect asks for; `None` where there is none to follow.
    fn redirect(
        &self,
        sample: &SampleResult,
        ask: &Ask,
        location: Option<String>,
    ) -> Option<Result<Ask, SpecError>> {
        let follows = self.spec.follows || self.spec.follows_silently;
        let is_get = matches!(ask.method.as_str(), "GET" | "HEAD");
        let is_redirect = match sample.code.as_str() {
            "301" | "302" | "303" | "308" => true,
            "307" => is_get,
            _ => false,
        };
        if !follows || !is_redirect {
            return None;
        }
        let Some(location) = location else {
            let message = "Missing location header in redirect".to_owned();
            let class = "java.lang.IllegalArgumentException";
            return Some(Err(SpecError { class, message, url: sample.url.clone() }));
        };
        let from = Url::parse(&sample.url).ok()?;
        let url = joined_address(&from, &location.replace(' ', "%20")).ok()?;
        let is_away = ask.is_away || !from.shares_credentials(&url);
        let method = if ask.method == "HEAD" { "HEAD" } else { "GET" }.to_owned();
        Some(Ok(Ask { method, url: url.to_string(), body: None, is_away }))
    }

    fn follow(
        &mut self,
        sample: SampleResult,
        next: Result<Ask, SpecError>,
        node: &SamplerNode,
        thread: &mut Thread,
    ) -> Step {
        let silent = self.spec.follows_silently;
        self.redirects += 1;
        let end = match &next {
            Err(error) => Some((error.class, error.message.clone())),
            Ok(_) if self.redirects > REDIRECTS_MAX => Some((
                "java.io.IOException",
                format!("Exceeded maximum number of redirects: {REDIRECTS_MAX}"),
            )),
            Ok(_) => None,
        };
        let mut main = match self.main.take() {
            None => begun(sample, silent),
            Some(main) => joined(main, sample, silent),
        };
        if let Some((class, message)) = end {
            let (bytes, children) = (main.bytes(), std::mem::take(&mut main.children));
            refuse(&mut main, class, &message);
            let mut last = main.clone();
            (last.header_bytes, last.body_bytes) = (0, last.body.len() as u64);
            main.body_bytes += bytes;
            main.children = children;
            if self.redirects > REDIRECTS_MAX && !silent {
                main.children.push(last);
            }
            return self.complete(main, node, thread);
        }
        self.main = Some(main);
        match next {
            Ok(ask) => self.send(node, ask, thread),
            Err(_) => Step::Nothing,
        }
    }

    /// The sample of an address is complete: the sampler's own, or that of a resource, which may be a page itself. What is left of all
    /// pages is asked for here, one after another.
    fn complete(&mut self, sample: SampleResult, node: &SamplerNode, thread: &mut Thread) -> Step {
        let mut whole = self.begin_page(sample);
        loop {
            self.redirects = 0;
            if let Some(sample) = whole.take() {
                if self.pages.is_empty() {
                    return done(sample);
                }
                self.add_resource(sample, thread);
            }
            let Some(page) = self.pages.last_mut() else { return Step::Nothing };
            let Some(url) = page.left.pop() else {
                whole = self.pages.pop().map(|page| page.sample);
                continue;
            };
            match self.ask_resource(url, node, thread) {
                Ok(step) => return step,
                Err(refused) => whole = Some(*refused),
            }
        }
    }

    /// Looks for the resources of a page, which becomes the first sample below its own; `None` where there are some to be asked for.
    fn begin_page(&mut self, sample: SampleResult) -> Option<SampleResult> {
        let is_page =
            sample.is_success && sample.content_type.to_ascii_lowercase().contains("html");
        if !is_page || self.spec.embedded.is_none() {
            return Some(sample);
        }
        if self.pages.len() > FRAMES_MAX {
            return Some(with_nesting_error(sample));
        }
        let mut left = self.wanted_resources(&sample);
        if left.is_empty() {
            return Some(sample);
        }
        left.reverse();
        let mut page = sample.clone();
        if sample.children.is_empty() {
            page.children = vec![SampleResult { thread: String::new(), ..sample }];
        }
        self.spec.method = "GET".to_owned();
        self.pages.push(Page { sample: page, left, is_away: self.is_away });
        None
    }

    /// The resources of a page that the sampler wants, as many as all its pages together may still have.
    fn wanted_resources(&mut self, page: &SampleResult) -> Vec<String> {
        let Ok(url) = Url::parse(&page.url) else { return Vec::new() };
        let mut found = resources(&page.text, &url);
        let wanted = self.spec.embedded.as_deref().unwrap_or_default();
        if !wanted.is_empty() {
            found.retain(|address| jmx::matches_whole(wanted, address));
        }
        if !self.spec.not_embedded.is_empty() {
            found.retain(|address| !jmx::matches_whole(&self.spec.not_embedded, address));
        }
        found.truncate(RESOURCES_MAX - self.found);
        self.found += found.len();
        found
    }

    /// Asks for a resource of the page; its sample where nothing can be sent.
    fn ask_resource(
        &mut self,
        url: String,
        node: &SamplerNode,
        thread: &mut Thread,
    ) -> Result<Step, Box<SampleResult>> {
        self.spec.follows = true;
        let is_of_stranger = self.pages.last().is_some_and(|page| page.is_away);
        let is_away = is_of_stranger || !shares_credentials(&self.spec.url, &url);
        self.try_send(node, Ask { method: "GET".to_owned(), url, body: None, is_away }, thread)
    }

    /// Of a page whose resources say too much the later ones have no bodies and headers.
    fn shed(&mut self, resource: &mut SampleResult, thread: &Thread) {
        let (before, most) = (self.resource_bytes, stdx::within_memory(RESOURCE_BYTES_MAX, 64));
        self.resource_bytes += resource.text_bytes();
        if self.resource_bytes <= most {
            return;
        }
        resource.drop_texts();
        if before <= most {
            let text = format!(
                "Embedded resources of {} have more than {most} bytes: later ones have no body and headers in results",
                resource.url
            );
            thread.write_log(LogLevel::Warn, "o.a.j.p.h.s.HTTPSamplerBase", &text);
        }
    }

    /// Adds the sample of a resource to its page.
    fn add_resource(&mut self, mut resource: SampleResult, thread: &Thread) {
        self.shed(&mut resource, thread);
        let Some(Page { sample: page, .. }) = self.pages.last_mut() else { return };
        page.header_bytes += resource.header_bytes;
        page.body_bytes += resource.body_bytes;
        page.sent_bytes += resource.sent_bytes;
        page.elapsed_ms = (resource.end_ms() - page.start_ms).max(0) as u64;
        if !resource.is_success {
            if page.is_success {
                page.message.clear();
            }
            page.is_success = false;
            page.message.push_str(&format!(
                "Embedded resource download error:{} code:{} message:{}, ",
                resource.url, resource.code, resource.message
            ));
        }
        page.children.push(resource);
    }
}

/// Pages in each other at most: JMeter's `httpsampler.max_frame_depth`.
const FRAMES_MAX: usize = 5;

/// A page that is too deep in others.
fn with_nesting_error(mut page: SampleResult) -> SampleResult {
    let mut error = SampleResult { children: Vec::new(), ..page.clone() };
    refuse(&mut error, "java.lang.Exception", "Maximum frame/iframe nesting depth exceeded.");
    page.children.push(error);
    page
}

/// Bytes of bodies and headers of a page's resources at most, and no more than a 64th of what the process may take.
const RESOURCE_BYTES_MAX: usize = 64 << 20;

/// Whether what is meant for one address may go to another: scheme, host and port are the same.
fn shares_credentials(from: &str, to: &str) -> bool {
    let (Ok(from), Ok(to)) = (Url::parse(from), Url::parse(to)) else { return false };
    from.shares_credentials(&to)
}

fn done(sample: SampleResult) -> Step {
    Step::Done(Box::new(sample))
}

/// The sum of a redirect's hops begins as a copy of the first.
fn begun(sample: SampleResult, silent: bool) -> SampleResult {
    let mut main = sample.clone();
    main.children = if silent { Vec::new() } else { vec![sample] };
    main
}

/// The sum of hops with one more: what was asked for last answers for all.
fn joined(main: SampleResult, last: SampleResult, silent: bool) -> SampleResult {
    let mut whole = SampleResult {
        start_ms: main.start_ms,
        elapsed_ms: (last.end_ms() - main.start_ms).max(0) as u64,
        latency_ms: main.latency_ms,
        connect_ms: main.connect_ms,
        header_bytes: main.header_bytes + last.header_bytes,
        body_bytes: main.body_bytes + last.body_bytes,
        sent_bytes: main.sent_bytes + last.sent_bytes,
        children: main.children,
        ..last.clone()
    };
    if silent {
        (whole.header_bytes, whole.body_bytes) = (last.header_bytes, last.body_bytes);
    } else {
        whole.children.push(last);
    }
    whole
}

/// The sample of an address that the cache has; `None` where it is asked.
fn fresh(spec: &HttpSpec, node: &SamplerNode, thread: &mut Thread) -> Option<Step> {
    let manager = node.configs_of(Class::CacheManager).next().filter(|_| spec.method == "GET")?;
    if flag(&manager.element.properties, "useExpires", thread) != Some(true) {
        return None;
    }
    let now_s = thread.unix_s();
    if !thread.cache_store(manager).is_fresh(&spec.url, now_s) {
        return None;
    }
    let property = |name: &str| thread.world.property(name);
    let mode = property("cache_manager.cached_resource_mode").unwrap_or_default();
    let (code, message) = match mode.as_str() {
        "RETURN_200_CACHE" => (
            "200".to_owned(),
            property("RETURN_200_CACHE.message").unwrap_or_else(|| "(ex cache)".to_owned()),
        ),
        "RETURN_CUSTOM_STATUS" => (
            property("RETURN_CUSTOM_STATUS.code").unwrap_or_default(),
            property("RETURN_CUSTOM_STATUS.message").unwrap_or_default(),
        ),
        _ => return Some(Step::Nothing),
    };
    Some(done(SampleResult {
        start_ms: thread.unix_ms_now(),
        url: spec.url.clone(),
        method: spec.method.clone(),
        is_success: true,
        code,
        message,
        ..SampleResult::default()
    }))
}
