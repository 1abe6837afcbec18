//! The conclusion of a run in words: how much was requested and answered, whether the server kept up, what limits it, how sure
//! that is, and what to do next. `docs/design/conclusions.md` has each rule with its threshold and source.
//!
//! ```text
//! Input ──▶ Facts ──▶ Outcome ──▶ Sentences (at most five) ──▶ text · html · markdown · json
//! ```
//!
//! The rules are pure functions of [`Facts`]. They never claim more than the data carry: an INVALID measurement says nothing of
//! the server, and a short run says little.

mod backlog;
mod bottleneck;
mod cable;
mod checks;
mod class;
mod course;
mod elsewhere;
mod facts;
mod failures;
mod growth;
mod iterations;
mod landing;
mod late;
mod limit;
mod line;
mod load;
mod measurement;
mod moments;
mod onset;
mod outage;
mod outages;
mod outcome;
mod overload;
mod pause;
mod remedy;
mod repeat;
mod sentence;
mod server_result;
mod servers;
mod shape;
#[cfg(test)]
mod simulated;
mod since;
mod spread;
mod steady;
mod sureness;
#[cfg(test)]
mod tests;
mod throughput;
mod times;
mod waits;
mod words;
mod worked_off;
mod worst;

pub(crate) use self::cable::CableConclusion;
use self::facts::Facts;
pub(crate) use self::facts::SENT_AGAIN_MIN;
use self::outcome::Outcome;
pub use self::outcome::outcome_class;
pub(crate) use self::sentence::{Kind, Sentence};
pub use self::server_result::ServerResult;
use crate::object::{Object, json_list};
use crate::{Input, escape, page};

/// Sentences of a conclusion, at most.
pub(crate) const SENTENCES_MAX: usize = 5;

/// What to do about what limits the server of a run, as a sentence; `None` where nothing that was watched does.
pub(crate) fn remedy_of(input: &Input<'_>) -> Option<String> {
    let facts = Facts::of(input);
    let servers = facts.servers.as_ref()?;
    let limit = limit::limit(servers, Outcome::of(&facts).is_saturated())?;
    // What is merely nearest to its limit may be another than what an overload would show.
    let is_same = limit::limit(servers, true) == Some(limit);
    is_same.then(|| format!("Next: {}.", remedy::remedy(servers)))
}

/// The conclusion of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    sentences: Vec<Sentence>,
    outcome: Outcome,
    /// The server's result in a few words.
    result: String,
    is_steady: bool,
    /// It is of a log-in page.
    is_log_in: bool,
}

impl Conclusion {
    /// Draws it from all that a report is made from.
    pub(crate) fn of(input: &Input<'_>) -> Self {
        Self::from_facts(&Facts::of(input))
    }

    fn from_facts(facts: &Facts) -> Self {
        let outcome = Outcome::of(facts);
        let is_steady = outcome.is_of_steady_load(facts);
        let sentences = sentences(facts, outcome);
        let is_log_in = facts.is_log_in();
        Self { sentences, outcome, result: outcome.result(facts), is_steady, is_log_in }
    }

    /// The load was even and the server's queue level, so that its response times have quantiles.
    pub(crate) fn is_of_steady_load(&self) -> bool {
        self.is_steady
    }

    /// The shortest answer.
    pub(crate) fn first(&self) -> &str {
        self.sentences.first().map_or("", |sentence| sentence.text.as_str())
    }

    /// The sentence of this kind, where there is one.
    pub(crate) fn text_of(&self, kind: Kind) -> Option<&str> {
        self.sentences.iter().find(|one| one.kind == kind).map(|one| one.text.as_str())
    }

    /// The sentences, a line each.
    pub(crate) fn text(&self) -> String {
        lines(&self.sentences)
    }

    /// The line of the server's result, which stands beside the verdict on the measurement.
    pub(crate) fn server_line(&self) -> String {
        format!("Server: {}\n", escape::terminal(&self.result))
    }

    /// The sentences as a card of a page, the first of them strong.
    pub(crate) fn html(&self, out: &mut String) {
        card(out, &self.sentences);
    }

    /// The server's result as a badge.
    pub(crate) fn badge(&self) -> String {
        let class = if self.is_log_in { "" } else { self.outcome.class() };
        let result = escape::xml(&self.result);
        format!("<span class=\"badge {class}\">Server: {result}</span>")
    }

    /// The sentences as a list of Markdown.
    pub(crate) fn markdown(&self) -> String {
        markdown_list(&self.sentences)
    }

    /// The server's result as Markdown.
    pub(crate) fn markdown_result(&self) -> String {
        escape::markdown(&self.result)
    }

    /// The sentences as a JSON list.
    pub(crate) fn json(&self) -> String {
        json_sentences(&self.sentences)
    }

    /// The server did not do what it was asked for, or a log-in page answered in its place.
    pub(crate) fn is_bad(&self) -> bool {
        self.is_log_in || self.outcome.class() == "bad"
    }

    /// The outcome's name in JSON.
    pub(crate) fn outcome_name(&self) -> &'static str {
        self.outcome.name()
    }
}

/// What a run shows, a sentence each; the first is the shortest answer.
#[must_use]
pub fn sentences_of(input: &Input<'_>) -> Vec<String> {
    Conclusion::of(input).sentences.into_iter().map(|sentence| sentence.text).collect()
}

/// Sentences as a card of a page, the first of them strong.
pub(crate) fn card(out: &mut String, sentences: &[Sentence]) {
    out.push_str("<section class=\"card\"><h2>Conclusion</h2>\n");
    for (number, sentence) in sentences.iter().enumerate() {
        let text = with_code(&escape::xml(&sentence.text));
        let text = if number == 0 { format!("<b>{text}</b>") } else { text };
        page::push(out, format_args!("<p>{text}</p>\n"));
    }
    out.push_str("</section>\n");
}

/// What stands between two backticks as code.
fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    let mark = |(at, part): (usize, &&str)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(mark).collect()
}

/// Sentences as a list of Markdown.
pub(crate) fn markdown_list(sentences: &[Sentence]) -> String {
    sentences.iter().map(|sentence| item(&sentence.text)).collect()
}

/// The same of plain texts.
pub(crate) fn markdown_texts(texts: &[String]) -> String {
    texts.iter().map(|text| item(text)).collect()
}

fn item(text: &str) -> String {
    format!("- {}\n", escape::markdown(text))
}

/// Sentences, a line each.
pub(crate) fn lines(sentences: &[Sentence]) -> String {
    sentences.iter().fold(String::new(), |out, one| out + &escape::terminal(&one.text) + "\n")
}

/// Sentences as a JSON list.
pub(crate) fn json_sentences(sentences: &[Sentence]) -> String {
    let figures = |sentence: &Sentence| {
        let figures = sentence.figures.iter();
        figures.fold(Object::new(), |object, (name, value)| object.float(name, *value)).end()
    };
    json_list(sentences.iter().map(|sentence| {
        Object::new()
            .text("kind", sentence.kind.name())
            .text("text", &sentence.text)
            .put("figures", figures(sentence))
            .end()
    }))
}

/// The sentences in their order. Where there are more than fit, a remark that holds for every good run goes first, then the
/// times, which the report's lines have too.
fn sentences(facts: &Facts, outcome: Outcome) -> Vec<Sentence> {
    let (first, second) = match facts.is_log_in() {
        true => (landing::sentence(facts), None),
        false => (None, landing::sentence(facts)),
    };
    let mut all: Vec<Sentence> = [
        first,
        sureness::ended_early(facts),
        sureness::invalid(facts, outcome),
        Some(throughput::throughput(facts, outcome)),
        second,
        failures::slowest(facts, outcome),
        failures::errors(facts, outcome),
        failures::checks(facts, outcome),
        failures::sent_again(facts),
        sureness::doubt(facts, outcome),
        times::latency(facts, outcome),
        bottleneck::sentence(facts, outcome),
        sureness::sureness(facts, outcome),
        bottleneck::advice(facts, outcome),
    ]
    .into_iter()
    .flatten()
    .collect();
    let droppable = match sureness::is_little(facts) {
        true => [Kind::Latency, Kind::Advice],
        false => [Kind::Confidence, Kind::Latency],
    };
    for kind in droppable {
        if all.len() > SENTENCES_MAX {
            all.retain(|sentence| sentence.kind != kind);
        }
    }
    all.truncate(SENTENCES_MAX);
    all
}
