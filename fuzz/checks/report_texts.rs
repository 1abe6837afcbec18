//! A text of a server in every place of every report: it makes no element, no attribute, no cell and no line of its own, and steers
//! no terminal.

use metrics::tally::{Assertion, Check, Contains, Kind, MetricSummary, ThresholdOutcome};
use metrics::{
    Attacked, Batch, By, FailureKind, Gap, GateOutcome, GateState, GateUnit, Generator, Groups,
    Sample, Summary, TargetLabel, TargetTable, Timeline, Traffic, Verdict,
};
use report::{Input, PlotBuilder, Size};
use stdx::Nanos;

/// An element and an attribute that no report has. They follow the text, which may have opened a way for them.
const MARK: &str = "<zq9 onzq9=1>\"'><zq9 onzq9=1>";
/// The names in it.
const NAME: &str = "zq9";

/// The bytes of all reports together.
///
/// # Panics
/// The text has left its place.
pub(crate) fn check(bytes: &[u8]) -> usize {
    let text = format!("{}{MARK}", String::from_utf8_lossy(bytes));
    let (batch, table) = (batch(&text), table(&text));
    let (mut summary, mut groups) = (Summary::new(), Groups::new(By::Target));
    let (mut timeline, mut traffic) = (Timeline::new(), Traffic::new());
    summary.add(&batch);
    groups.add(&batch, &table);
    let mut by_target = Groups::by_request();
    by_target.add(&batch, &table);
    timeline.add(&batch);
    traffic.add(&batch);
    let mut attacked = Attacked::default();
    attacked.add(&batch, &table);
    let attacked = attacked.targets(&table);
    let losses = [text.clone()];
    let mut generator = Generator::new();
    (generator.planned, generator.sent, generator.io) = (20, 20, text.clone());
    generator.redirect_hosts = vec![text.clone()];
    let verdict = Verdict::new(&summary, Some(&generator), &losses);
    let assertions = assertions(&text);
    let input = Input {
        title: &text,
        summary: &summary,
        verdict: &verdict,
        generator: Some(&generator),
        losses: &losses,
        groups: Some(&groups),
        by_target: Some(&by_target),
        attacked: attacked.as_ref(),
        timeline: Some(&timeline),
        traffic: Some(&traffic),
        buckets: None,
        server: None,
        selected: &text,
        parts: &[],
        assertions: &assertions,
    };
    let mut plot = PlotBuilder::new(report::THRESHOLD).expect("the usual threshold");
    plot.add(&batch, &table, &text);
    let figure = plot.finish(&text);
    let pages = [report::html(&input), figure.html()];
    pages.iter().for_each(|page| check_page(page));
    let pictures = [figure.svg(Size::default()), report::junit(&input)];
    pictures.iter().for_each(|xml| check_xml(xml));
    let (markdown, terminal) = (report::markdown(&input), report::text(&input));
    check_markdown(&markdown);
    check_terminal(&terminal);
    let json = [report::json(&input), report::load_performance(&input)];
    for json in &json {
        let value = serde_json::from_str::<serde_json::Value>(json);
        assert!(value.is_ok() && json.trim_end().lines().count() == 1, "{json}");
    }
    let metrics = report::open_metrics(&input);
    check_metrics(&metrics);
    let all = pages.iter().chain(&pictures).chain(&json).chain([&markdown, &terminal, &metrics]);
    all.map(String::len).sum()
}

/// Answers and failures that bear the text.
fn batch(text: &str) -> Batch {
    let mut batch = Batch { epoch: 1_700_000_000_000_000_000, ..Batch::default() };
    let error = batch.add_text(text.as_bytes());
    for number in 0..20 {
        let intended = Nanos::from_millis(number * 20);
        let done = intended + Nanos::from_millis(1 + number);
        let mut sample = Sample {
            seq: number,
            intended,
            sent: intended,
            first_byte: done,
            done,
            target: (number % 2) as u32,
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        };
        match number % 10 {
            3 => {
                (sample.outcome, sample.failure, sample.error) =
                    (metrics::Outcome::None, FailureKind::Tls, error);
            }
            7 => (sample.outcome, sample.error) = (metrics::Outcome::Http(404), error),
            _ => {}
        }
        batch.samples.push(sample);
    }
    batch
}

fn table(text: &str) -> TargetTable {
    let label = |url: String| TargetLabel {
        attack: text.to_owned(),
        method: "GET".to_owned(),
        url,
        name: String::new(),
        tags: String::new(),
    };
    vec![label(format!("http://h/{text}")), label(text.to_owned())].into()
}

/// What a script and its user have named.
fn assertions(text: &str) -> Vec<Assertion> {
    let (kind, contains) = (Kind::Trend, Contains::Time);
    let gate = |state| {
        let (expression, run) = (text.to_owned(), text.to_owned());
        Assertion::Gate(GateOutcome { expression, value: None, unit: GateUnit::Time, state, run })
    };
    let outcome = ThresholdOutcome {
        metric: format!("m{{{text}}}"),
        source: text.to_owned(),
        figure: Some(1.5),
        holds: false,
        run: text.to_owned(),
    };
    let metric = MetricSummary {
        scenario: text.to_owned(),
        group: format!("::{text}"),
        metric: text.to_owned(),
        kind,
        contains,
        statistics: vec![("p(95)".to_owned(), 3.0)],
        run: String::new(),
    };
    let (group, name) = (text.to_owned(), text.to_owned());
    vec![
        gate(GateState::Crossed),
        gate(GateState::Undecided(Gap::NoRequest)),
        Assertion::Threshold { outcome, kind, contains },
        Assertion::Check(Check { group, name, passes: 1, fails: 2 }),
        Assertion::Metric(metric),
    ]
}

/// What a page shows is well-formed XML, and its data are JSON.
fn check_page(page: &str) {
    let between = |open: &str, close: &str| {
        let (_, rest) = page.split_once(open).expect("a page");
        rest.split_once(close).expect("a page").0.to_owned()
    };
    let body = between("<main", "</main>").replace("&nbsp;", " ");
    check_xml(&format!("<main{body}</main>"));
    let title = between("<title>", "</title>");
    check_xml(&format!("<title>{title}</title>"));
    let data = between("id=\"figures\">", "</script>");
    assert!(serde_json::from_str::<serde_json::Value>(&data).is_ok(), "{data}");
    assert!(!page.contains(&format!("<{NAME}")), "{page}");
}

fn check_xml(xml: &str) {
    let document = roxmltree::Document::parse(xml).expect("well-formed XML");
    for node in document.descendants() {
        assert_ne!(node.tag_name().name(), NAME, "{xml}");
        assert!(node.attributes().all(|one| !one.name().contains(NAME)), "{xml}");
    }
}

/// No element, and in each table as many cells in every row.
fn check_markdown(text: &str) {
    assert!(!text.contains(&format!("<{NAME}")), "{text}");
    let mut cells = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            cells = None;
            continue;
        }
        let found = cells_of(line);
        assert_eq!(*cells.get_or_insert(found), found, "{line}");
    }
}

/// The bars that no backslash stands before.
fn cells_of(line: &str) -> usize {
    let (mut bars, mut is_escaped) = (0, false);
    for c in line.chars() {
        bars += usize::from(c == '|' && !is_escaped);
        is_escaped = c == '\\' && !is_escaped;
    }
    bars
}

fn check_terminal(text: &str) {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(steers), "{text:?}");
}

/// Each line is a comment or a sample: a name, and a number at its end.
fn check_metrics(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap_or_default();
        assert!(line.starts_with(|c: char| c.is_ascii_lowercase()), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}
