//! `SampleResult`: a sample as JMeter's listeners get it.

use jmx::SampleView;

/// A sample.
#[derive(Clone, Debug, Default)]
pub struct SampleResult {
    /// Its label.
    pub label: String,
    /// When it began, in milliseconds since 1970.
    pub start_ms: i64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// Until the response began, in milliseconds.
    pub latency_ms: u64,
    /// Until the connection stood, in milliseconds.
    pub connect_ms: u64,
    /// What of its time was no sample, in milliseconds.
    pub idle_ms: u64,
    /// The response's code.
    pub code: String,
    /// The response's message.
    pub message: String,
    /// The thread; empty where none is named.
    pub thread: String,
    /// `text`, `bin` or nothing.
    pub data_type: &'static str,
    /// Whether it is a success.
    pub is_success: bool,
    /// What assertions say of it, the passed ones too.
    pub assertions: Vec<AssertionResult>,
    /// Bytes of the response's header as they came.
    pub header_bytes: u64,
    /// Bytes of its body as they came.
    pub body_bytes: u64,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// Threads at work in the group.
    pub group_threads: u64,
    /// Threads at work.
    pub all_threads: u64,
    /// The address; empty where there is none.
    pub url: String,
    /// The body, decoded of its content coding.
    pub body: Vec<u8>,
    /// The body as text.
    pub text: String,
    /// The request's header, a line a field.
    pub request_headers: String,
    /// The method, of an HTTP sample.
    pub method: String,
    /// The query or the body that was sent.
    pub query: String,
    /// The cookies that were sent.
    pub cookies: String,
    /// The response's header, a line a field.
    pub response_headers: String,
    /// The response's `Content-Type`.
    pub content_type: String,
    /// The charset of the text.
    pub encoding: String,
    /// Redirects, embedded resources, samples of a transaction.
    pub children: Vec<Self>,
    /// What it is.
    pub kind: SampleKind,
    /// Variables that results show: names and values.
    pub variables: Vec<(String, String)>,
    /// How many samples it stands for, and how many of them failed.
    pub counts: (u64, u64),
}

/// What a sample is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleKind {
    /// A request of HTTP.
    #[default]
    Http,
    /// Another sampler's.
    Plain,
    /// The sum of a transaction.
    Transaction,
}

/// What an assertion says of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssertionResult {
    /// The assertion's name.
    pub name: String,
    /// The sample is not as it must be.
    pub is_failure: bool,
    /// The sample could not be judged.
    pub is_error: bool,
    /// Why.
    pub message: String,
}

impl SampleResult {
    /// Bytes of what it has of the answer, and of what was sent.
    pub(crate) fn text_bytes(&self) -> usize {
        let texts =
            [&self.text, &self.request_headers, &self.response_headers, &self.cookies, &self.query];
        self.body.len() + texts.iter().map(|text| text.len()).sum::<usize>()
    }

    /// Leaves out what is long of the answer; its figures stay.
    pub(crate) fn drop_texts(&mut self) {
        self.body = Vec::new();
        for text in [&mut self.text, &mut self.response_headers, &mut self.cookies] {
            *text = String::new();
        }
    }

    /// Sets the body to a text.
    pub(crate) fn set_text(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.body = text.as_bytes().to_vec();
        if self.kind == SampleKind::Plain {
            self.body_bytes = text.len() as u64;
        }
    }

    /// Bytes of memory that bodies and texts take, of those below as well.
    pub(crate) fn kept_bytes(&self) -> usize {
        let own = self.body.len() + self.text.len() + self.query.len();
        own + self.children.iter().map(Self::kept_bytes).sum::<usize>()
    }

    /// The same without bodies and texts.
    pub(crate) fn without_bodies(&self) -> Self {
        let none =
            Self { body: Vec::new(), text: String::new(), query: String::new(), ..Self::default() };
        Self {
            label: self.label.clone(),
            code: self.code.clone(),
            message: self.message.clone(),
            thread: self.thread.clone(),
            assertions: self.assertions.clone(),
            url: self.url.clone(),
            request_headers: self.request_headers.clone(),
            method: self.method.clone(),
            cookies: self.cookies.clone(),
            response_headers: self.response_headers.clone(),
            content_type: self.content_type.clone(),
            encoding: self.encoding.clone(),
            children: self.children.iter().map(Self::without_bodies).collect(),
            variables: self.variables.clone(),
            start_ms: self.start_ms,
            elapsed_ms: self.elapsed_ms,
            latency_ms: self.latency_ms,
            connect_ms: self.connect_ms,
            idle_ms: self.idle_ms,
            data_type: self.data_type,
            is_success: self.is_success,
            header_bytes: self.header_bytes,
            body_bytes: self.body_bytes,
            sent_bytes: self.sent_bytes,
            group_threads: self.group_threads,
            all_threads: self.all_threads,
            kind: self.kind,
            counts: self.counts,
            ..none
        }
    }

    /// The same as the sum of a transaction, which no total counts again.
    #[must_use]
    pub fn into_transaction(self) -> Self {
        Self { kind: SampleKind::Transaction, ..self }
    }

    /// All bytes of the response as they came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.header_bytes + self.body_bytes
    }

    /// The message of the first assertion that failed.
    #[must_use]
    pub fn failure_message(&self) -> &str {
        let mut failed = self.assertions.iter().filter(|one| one.is_failure || one.is_error);
        failed.next().map_or("", |one| &one.message)
    }

    /// When it ended, in milliseconds since 1970.
    #[must_use]
    pub fn end_ms(&self) -> i64 {
        self.start_ms + (self.elapsed_ms + self.idle_ms) as i64
    }

    /// What was requested, as `GET http://…`, a blank line, and the body.
    #[must_use]
    pub fn request_data(&self) -> String {
        if self.kind != SampleKind::Http {
            return String::new();
        }
        let sends = !self.query.is_empty() && self.method != "GET";
        let data = if sends {
            format!("\n{} data:\n{}\n", self.method, self.query)
        } else {
            String::new()
        };
        let cookies = match self.cookies.as_str() {
            "" => "[no cookies]".to_owned(),
            cookies => format!("Cookie Data:\n{cookies}"),
        };
        format!("{} {}\n{data}\n{cookies}\n", self.method, self.url)
    }

    /// Shows it, and what is below it, to `see`.
    pub(crate) fn with_view<R>(&self, see: impl FnOnce(&SampleView<'_>) -> R) -> R {
        let leaves: Vec<Vec<SampleView<'_>>> = self
            .children
            .iter()
            .map(|child| child.children.iter().map(|leaf| leaf.view("", &[])).collect())
            .collect();
        let below: Vec<SampleView<'_>> = self
            .children
            .iter()
            .zip(&leaves)
            .map(|(child, leaves)| child.view("", leaves))
            .collect();
        let data = self.request_data();
        see(&self.view(&data, &below))
    }

    fn view<'a>(&'a self, data: &'a str, children: &'a [SampleView<'a>]) -> SampleView<'a> {
        SampleView {
            label: &self.label,
            url: &self.url,
            body: &self.body,
            text: &self.text,
            code: &self.code,
            message: &self.message,
            request_headers: &self.request_headers,
            request_data: data,
            response_headers: &self.response_headers,
            content_type: &self.content_type,
            elapsed_ms: self.elapsed_ms,
            is_success: self.is_success,
            header_bytes: self.header_bytes,
            body_bytes: self.body_bytes,
            children,
        }
    }

    /// Names what is below it as JMeter does: by its own label and their place. What is below those has its own label as well, since
    /// it was named before them.
    pub(crate) fn name_children(&mut self) {
        let label = self.label.clone();
        self.name_below(&label);
    }

    fn name_below(&mut self, label: &str) {
        for (at, child) in self.children.iter_mut().enumerate() {
            child.label = format!("{label}-{at}");
            child.name_below(label);
        }
    }

    /// Sets what it and all below it have of their thread.
    pub(crate) fn set_thread(&mut self, name: &str, (group, all): (u64, u64)) {
        name.clone_into(&mut self.thread);
        (self.group_threads, self.all_threads) = (group, all);
        self.children.iter_mut().for_each(|child| child.set_thread(name, (group, all)));
    }
}
