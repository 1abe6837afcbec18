//! What an input becomes before it is written: groups of steps, and notes on what was left out.

use stdx::Nanos;

use crate::{Kind, Place, Text};

/// What an input holds, in the order in which it is done.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Names of the inputs, for the script's first line, each with its kind.
    pub inputs: Vec<(String, Kind)>,
    /// Functions of the script. A group without a name holds steps of no group.
    pub groups: Vec<Group>,
    /// What was left out, changed or guessed.
    pub notes: Vec<Note>,
    /// Whether certificates are not checked (`curl -k`).
    pub insecure: bool,
}

/// A note on the import, for the person who called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where in the input.
    pub place: Place,
    /// What happened to it, in one line.
    pub text: String,
}

/// Steps that belong together: a page, a folder, a tag.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Its name; empty: none.
    pub name: String,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// One thing that a user does.
#[derive(Debug, Clone)]
pub enum Step {
    /// A request and what is done with its answer.
    Exchange(Box<Exchange>),
    /// The same requests at once, as a browser loads them.
    Batch(Vec<Exchange>),
    /// A variable of the session gets a value.
    Assign {
        /// The variable.
        variable: String,
        /// Its value.
        value: Text,
    },
    /// A WebSocket: opened, talked over, closed.
    Socket(Box<Conversation>),
    /// Think time.
    Pause(Nanos),
    /// A line for the reader.
    Remark(String),
    /// A cookie that the pages' own scripts set.
    SetCookie {
        /// For which address.
        url: Text,
        /// The cookie's name.
        name: String,
        /// Its value.
        value: Text,
    },
}

/// A request, and what is done with its answer.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Where in the input.
    pub place: Place,
    /// What it is called in checks and comments; empty: its method and path.
    pub name: String,
    /// The method, in capitals as sent.
    pub method: String,
    /// The whole address, with its scheme and host, or with a value at their place.
    pub url: Text,
    /// Header fields, in order. An empty `User-Agent` is not sent at all.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Body,
    /// Credentials.
    pub auth: Option<Auth>,
    /// What is done with redirects.
    pub redirects: Redirects,
    /// Where cookies are kept.
    pub cookies: Cookies,
    /// How long the answer may take.
    pub timeout: Option<Nanos>,
    /// Statuses that are expected; empty: below 400.
    pub statuses: Vec<u16>,
    /// Further checks of the answer.
    pub checks: Vec<Check>,
    /// What later requests need of the answer.
    pub extractions: Vec<Extraction>,
    /// Whether it is repeated until something comes.
    pub polling: Option<Polling>,
    /// Lines for the reader, above the request.
    pub remarks: Vec<String>,
}

/// What is said over a WebSocket.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// Where in the input.
    pub place: Place,
    /// What it is called in checks.
    pub name: String,
    /// The whole address.
    pub url: Text,
    /// Header fields of its handshake.
    pub headers: Vec<Header>,
    /// What is sent, in order.
    pub messages: Vec<Reply>,
    /// What is taken of the messages that come.
    pub hearings: Vec<Hearing>,
}

/// A value in a message that comes over a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hearing {
    /// The variable of the session.
    pub variable: String,
    /// What the message has in its text; empty: any.
    pub marker: String,
    /// How many such messages with such a value come before it.
    pub nth: usize,
    /// Where in the message's JSON.
    pub path: Vec<JsonStep>,
}

/// A message that is sent over a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What the message before it has in its text, which is waited for; none: it is sent at once.
    pub after: Option<String>,
    /// The message.
    pub text: Text,
}

/// A header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name, as written.
    pub name: String,
    /// Its value.
    pub value: Text,
}

/// A request's body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Body {
    /// No body.
    #[default]
    None,
    /// Text.
    Text(Text),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// The bytes of a file, which the script opens.
    File {
        /// Its path, as the input has it.
        path: String,
    },
    /// Something that the recording lacks: as many bytes as it had.
    Filler {
        /// How many.
        bytes: usize,
    },
    /// A form with files.
    Multipart(Multipart),
}

/// A multipart body. The script makes its boundary and the `Content-Type`, unless a header of the exchange has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multipart {
    /// What follows `multipart/`: `form-data`, `mixed`.
    pub subtype: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The field's name.
    pub name: Text,
    /// The file's name, if it is a file.
    pub file_name: Option<Text>,
    /// Its `Content-Type`; none: not written.
    pub content_type: Option<String>,
    /// Further header fields.
    pub headers: Vec<Header>,
    /// What is in it.
    pub content: Content,
}

/// What a part of a multipart body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(Text),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// The bytes of a file, which the script opens.
    File {
        /// Its path, as the input has it.
        path: String,
    },
    /// The bytes of a file as base64 in lines.
    FileAsBase64 {
        /// Its path, as the input has it.
        path: String,
    },
    /// A file whose content the recording lacks: as many bytes as it had.
    Filler {
        /// How many.
        bytes: usize,
    },
    /// Files in one field, as `multipart/mixed`.
    Mixed(Vec<Part>),
}

/// Credentials of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Basic`.
    Basic {
        /// The user.
        user: Text,
        /// The password.
        password: Text,
    },
    /// Digest, by the answer's challenge.
    Digest {
        /// The user.
        user: Text,
        /// The password.
        password: Text,
    },
    /// `Authorization: Bearer`.
    Bearer(Text),
    /// Signed as AWS wants it, when the script runs.
    AwsV4 {
        /// The access key's identifier.
        key: Text,
        /// The secret key.
        secret: Text,
        /// The session's token, if there is one.
        session_token: Option<Text>,
        /// As `eu-central-1`.
        region: Text,
        /// As `s3`.
        service: Text,
    },
}

/// What is done with redirects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Redirects {
    /// Followed as browsers do, up to ten.
    #[default]
    Follow,
    /// Not followed.
    Stop,
    /// Followed with the method and the body of the first request.
    KeepMethod,
    /// Followed by rules of its own, as curl has them.
    By(RedirectRules),
}

/// How redirects are followed that are not followed as browsers do. 307 and 308 keep method and body in any case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RedirectRules {
    /// How many are followed at most.
    pub hops_max: u32,
    /// Whether 301, 302 and 303 keep the method where they do not keep the body: `-X`.
    pub keeps_method: bool,
    /// The statuses below 307 that keep the method and the body.
    pub keeps_body: Vec<u16>,
    /// Whether credentials go to other hosts as well.
    pub trusts_hosts: bool,
}

impl RedirectRules {
    /// Whether browsers follow so as well, but for the number of redirects.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.keeps_method && self.keeps_body.is_empty() && !self.trusts_hosts
    }
}

/// Where the cookies of a request are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cookies {
    /// In the user's jar, for the whole iteration.
    #[default]
    Session,
    /// Nowhere: the answer's cookies are forgotten.
    Forgotten,
    /// In a jar of that name.
    Jar(String),
}

/// A check of an answer, beside its status.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// The body has the text in it.
    BodyContains(Text),
    /// A header field is the text.
    HeaderIs(String, Text),
    /// A header field is there.
    HeaderExists(String),
    /// What stands at that path of the JSON is that value.
    JsonIs(Vec<JsonStep>, serde_json::Value),
    /// Something stands at that path of the JSON.
    JsonExists(Vec<JsonStep>),
}

/// A value that an answer brings for later requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// The variable of the session that gets it.
    pub variable: String,
    /// Where in the answer it stands.
    pub find: Find,
    /// What of it is taken.
    pub cut: Option<Between>,
    /// How what stands there becomes the value, in order.
    pub decodings: Vec<Decoding>,
    /// Where it goes, for the comment.
    pub remark: String,
}

/// Where a value stands in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Find {
    /// At a path of the JSON in the body.
    Json(Vec<JsonStep>),
    /// In a header field.
    Header(String),
    /// In a cookie that the answer sets.
    Cookie(String),
    /// In the attribute of the first element of a selector.
    Html {
        /// The CSS selector.
        selector: String,
        /// The attribute; empty: its text.
        attribute: String,
    },
    /// In the body, between two texts.
    Body(Between),
    /// In the body, between two texts, the first of which stands before other items of the same list as well.
    BodyItem {
        /// The texts around it.
        between: Between,
        /// How many items stand before it.
        nth: usize,
    },
    /// In the address that the redirects led to.
    Address,
    /// The status, as text.
    Status,
}

/// A step of a path into JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonStep {
    /// The member of that name.
    Key(String),
    /// The element of that number, from 0; from the end if negative.
    Index(i64),
}

/// What stands between two texts; an empty `right` is the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// What stands before it.
    pub left: String,
    /// What stands behind it.
    pub right: String,
}

/// How a value found becomes what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// Percent-encoding is taken off.
    Url,
    /// Percent-encoding is taken off, `+` is a space.
    UrlForm,
    /// Entities of HTML become their characters.
    Html,
    /// Escapes of JSON strings become their characters.
    Json,
    /// Base64 is decoded to text.
    Base64,
}

/// A request repeated until its answer holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polling {
    /// At most so many requests.
    pub attempts: u32,
    /// The pause between two.
    pub pause: Nanos,
}

impl Import {
    /// Every request, in order.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.groups.iter().flat_map(|group| &group.steps).flat_map(|step| match step {
            Step::Exchange(exchange) => std::slice::from_ref(&**exchange),
            Step::Batch(exchanges) => exchanges,
            _ => &[],
        })
    }

    /// Notes what happened to a place of the input.
    pub fn note(&mut self, place: Place, text: impl Into<String>) {
        let note = Note { place, text: text.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Appends another input's part.
    pub fn append(&mut self, other: Self) {
        self.inputs.extend(other.inputs);
        self.groups.extend(other.groups);
        self.notes.extend(other.notes);
        self.insecure |= other.insecure;
    }
}

impl Exchange {
    /// The value of a header field, the first of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&Text> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| &header.value)
    }
}
