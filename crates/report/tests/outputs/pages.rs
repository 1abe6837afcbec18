//! Pages and pictures: whole, self-contained, and no text breaks out of its place.

use crate::samples::Seen;
use metrics::Histogram;
use report::overlay::Curve;
use report::{Bar, BarChart, BarSheet, Figure, Input, PlotBuilder, Size};
use stdx::Nanos;

const EVIL: &str = "</script><b>\"'&<img src=x onerror=alert(1)>";

/// Writes a picture to the folder in `BRUNT_SHOW`, if it is set, for a person to look at.
fn show(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("BRUNT_SHOW") {
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
    }
}

fn curves(label: &str) -> Figure {
    let mut times = [Histogram::new(), Histogram::new()];
    let mut rng = stdx::Prng::new(3);
    for _ in 0..20_000 {
        times[0].record(Nanos((5e6 * (1.0 + rng.exponential())) as u64));
        times[1].record(Nanos((9e6 * (0.4 + rng.exponential())) as u64));
    }
    let all = [Curve { label, times: &times[0] }, Curve { label: "after", times: &times[1] }];
    show(
        "histogram.svg",
        report::overlay::histogram("Latency", &all).svg(Size::default()).as_bytes(),
    );
    show("histogram.html", report::overlay::histogram("Latency", &all).html().as_bytes());
    report::overlay::percentiles("Before and after", &all)
}

/// The parts of a page that are not data: tags, with what quotes may hold.
fn assert_page(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"));
    for (open, close) in [("<script", "</script>"), ("<style", "</style>"), ("<main", "</main>")] {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
    for load in ["src=\"", "src='", "href=\"", "@import", "url(http", "<link", "<img", "<iframe"] {
        assert!(!page.contains(load), "{load}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    let data = page.split("id=\"figures\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str::<serde_json::Value>(data).unwrap();
}

/// A page's body without script and style must be well-formed XML: every tag closed, every text escaped.
fn assert_well_formed(page: &str) {
    let body = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let xml = format!("<main{}</main>", body.replace("&nbsp;", " "));
    roxmltree::Document::parse(&xml).unwrap();
}

#[test]
fn the_report_is_one_whole_page() {
    let pages = [
        ("minute.html", Seen::minute(), "checkout at 200/s"),
        ("mixed.html", Seen::mixed(), EVIL),
        ("nothing.html", Seen::nothing(), ""),
    ];
    for (name, seen, title) in pages {
        let page = report::html(&seen.input(title));
        show(name, page.as_bytes());
        assert_page(&page);
        assert_well_formed(&page);
    }
}

/// Error texts are Go's; what they mean stands beside them in plain words, with counts.
#[test]
fn failures_are_counted_in_plain_words() {
    let seen = Seen::mixed();
    let page = report::html(&seen.input("t"));
    let table = page.split("<h2>Failures</h2>").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(table.contains("connection refused") && table.contains(">4<"), "{table}");
    assert!(report::markdown(&seen.input("t")).contains("Failures: connection refused: 4\n"));
    assert!(report::text(&seen.input("t")).contains("connection refused"));
    assert!(!report::html(&Seen::steady(50, 200).input("t")).contains("<h2>Failures</h2>"));
}

/// `9,924` stood beside `5011.92`.
#[test]
fn numbers_of_one_report_are_written_alike() {
    let mut seen = Seen::steady(3_000, 200);
    seen.summary.latest = seen.summary.earliest + 999_000_000;
    seen.summary.end = seen.summary.latest;
    let page = report::html(&seen.input("t"));
    assert!(page.contains("<b>3,000</b><span>requests</span>"), "{page:.3000}");
    assert!(page.contains("<b>3,003</b><span>requests/s</span>"), "{page:.3000}");
    let markdown = report::markdown(&seen.input("t"));
    assert!(markdown.contains("| 3,000 | 3,003/s | 3,003/s |"), "{markdown}");
}

#[test]
fn a_verdict_that_is_blind_says_so() {
    let seen = Seen::steady(50, 200);
    let verdict = metrics::Verdict::new(&metrics::Summary::new(), None, &[]);
    let blind = Input { verdict: &verdict, generator: None, ..seen.input("t") };
    for document in [report::html(&blind), report::markdown(&blind), report::text(&blind)] {
        assert!(document.contains("VALID") && document.contains("no record of the generator"));
    }
    assert!(!report::markdown(&seen.input("t")).contains("no record of the generator"));
}

#[test]
fn no_text_breaks_out_of_a_page() {
    let mut figure = curves(EVIL);
    figure.title = EVIL.to_owned();
    figure.notes.push(EVIL.to_owned());
    let page = figure.html();
    assert_page(&page);
    assert_well_formed(&page);
    assert!(!page.contains("<b>") && !page.contains("<img"));
    let svg = figure.svg(Size::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert!(document.descendants().any(|node| node.text() == Some(EVIL)));
    assert!(!document.descendants().any(|node| node.has_tag_name("b")));
}

#[test]
fn pictures_have_the_requested_size() {
    let figure = curves("before");
    show("percentiles.html", figure.html().as_bytes());
    for (width, height) in [(1200, 600), (640, 300)] {
        let size = Size { width, height };
        let svg = figure.svg(size);
        assert!(svg.contains(&format!("width=\"{width}\" height=\"{height}\"")));
        let png = figure.png(size).unwrap();
        show(&format!("percentiles-{width}.png"), &png);
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(png[16..20], width.to_be_bytes());
        assert_eq!(png[20..24], height.to_be_bytes());
    }
    let least = figure.svg(Size { width: 1, height: 1 });
    assert!(least.contains("width=\"320\" height=\"200\""));
}

#[test]
fn a_picture_has_text_without_system_fonts() {
    let mut figure = curves("before");
    let with = figure.png(Size::default()).unwrap();
    figure.x.label.clear();
    assert_ne!(with, figure.png(Size::default()).unwrap());
}

#[test]
fn a_plot_overlays_files() {
    let mut plot = PlotBuilder::new(report::THRESHOLD).unwrap();
    let table = metrics::TargetTable::from(vec![metrics::TargetLabel::default()]);
    let mut rng = stdx::Prng::new(5);
    for file in ["linked.bin", "nginx.bin"] {
        let mut batch = metrics::Batch::default();
        for n in 0..6_000u64 {
            let took = (10e6 * (0.5 + rng.exponential())) as u64;
            let intended = Nanos(n * 2_000_000);
            let done = intended + Nanos(took);
            let status = if rng.below(40) == 0 { 500 } else { 200 };
            let sample = metrics::Sample {
                intended,
                done,
                outcome: metrics::Outcome::http(status),
                ..metrics::Sample::default()
            };
            batch.samples.push(sample);
        }
        plot.add(&batch, &table, file);
    }
    let figure = plot.finish("brunt plot");
    show("plot.html", figure.html().as_bytes());
    show("plot.png", &figure.png(Size::default()).unwrap());
    assert_eq!(figure.series.len(), 4);
    assert_eq!(figure.series[0].points.len(), report::THRESHOLD);
    assert_page(&figure.html());
}

#[test]
fn bars_of_the_seed() {
    let bar = |label: &str, values: &[f64]| Bar { label: label.into(), values: values.into() };
    let chart = |name: &str, title: &str, unit: &str, values: [f64; 3]| BarChart {
        name: name.into(),
        title: title.into(),
        unit: unit.into(),
        bars: ["hash", "round-robin", "first"]
            .into_iter()
            .zip(values)
            .map(|(label, value)| bar(label, &[value]))
            .collect(),
    };
    let mut sheet = BarSheet {
        title: "Three proxies before three Mongrels".to_owned(),
        charts: vec![
            chart("rate", "Requests per second", "1/s", [21.41, 39.73, 40.07]),
            chart("duration", "Total time taken", "s", [467.020_772, 251.725_273, 249.578_092]),
            chart("transfer", "Transfer rate", "Kbytes/s", [59.74, 110.84, 111.79]),
            chart("longest", "Longest request", "ms", [22795.0, 17132.0, 11936.0]),
            chart("load average", "load average", "", [1.15, 3.15, 3.28]),
        ],
        notes: vec!["A note.".to_owned()],
    };
    sheet.charts[0].bars[1].values.extend([35.0, 41.5, 30.0]);
    show("bars.html", sheet.html().as_bytes());
    show("bars.svg", sheet.svg().as_bytes());
    let png = sheet.png().unwrap();
    show("bars.png", &png);
    assert_eq!(png[16..20], 1410u32.to_be_bytes());
    assert_page(&sheet.html());
    assert_well_formed(&sheet.html());
    assert!(roxmltree::Document::parse(&sheet.svg()).is_ok());
}

#[test]
fn the_bundle_is_of_these_sources() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let list =
        std::fs::read_to_string(format!("{root}crates/report/assets/SOURCES.sha256")).unwrap();
    let mut sources = files_below(root, "web/src");
    sources.sort();
    let listed = list.lines().filter_map(|line| line.split("  ").nth(1));
    let listed: Vec<&str> = listed.filter(|path| path.starts_with("web/src/")).collect();
    assert_eq!(listed, sources, "run `npm run build` in web/");
}

fn files_below(root: &str, folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(format!("{root}{folder}")).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_below(root, &path)),
            false => files.push(path),
        }
    }
    files
}
