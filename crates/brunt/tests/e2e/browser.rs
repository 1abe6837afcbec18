//! The HTML report and the plot in a real Chromium: everything is drawn, every button works, nothing is fetched.

use std::process::{Command, Stdio};

use demo::Config;

use crate::{Ran, Scratch, run, server, start};

/// Added to a page under test: moves the pointer, drags, presses keys and clicks every button, and writes what it found
/// into the title.
const PROBE: &str = r#"<script>
const found = { errors: 0, saved: 0, fetched: 0 };
addEventListener("error", () => found.errors++);
addEventListener("unhandledrejection", () => found.errors++);
const click = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function () {
  if (this.download.endsWith(".png") && this.href.startsWith("blob:")) found.saved++;
  else click.call(this);
};
// The browser encodes in its idle time, which virtual time does not wait for: here it is done at once.
HTMLCanvasElement.prototype.toBlob = function (done, type) {
  const bytes = atob(this.toDataURL(type).split(",")[1]);
  done(new Blob([Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))], { type }));
};
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const soon = () => new Promise((done) => setTimeout(done, 100));
const isBlank = (picture) => !all(".series path, .series circle", picture).some((shape) => shape.getTotalLength() > 0);
/** The texts of the ticks and labels of each chart, and how many of its series show. */
const texts = () => all(".plot").map((picture) => all("g:not(.cursor) > text", picture).map((text) => text.textContent).join("|"));
const shown = () => all(".series").filter((group) => group.childElementCount > 0).length;
const cursors = () => all(".plot .cursor").filter((group) => group.childElementCount > 0).length;
const values = () => all(".legend output").filter((value) => /[0-9]/.test(value.textContent)).length;
function pointer(type, x, y) {
  const picture = document.querySelector(".plot");
  const box = picture.getBoundingClientRect();
  const at = { clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true, pointerId: 1 };
  picture.dispatchEvent(new PointerEvent(type, at));
}
function press(key) {
  document.querySelector(".chart").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}
async function hover() {
  pointer("pointermove", 0.5, 0.5);
  await soon();
  found.cursors = cursors();
  found.values = values();
  pointer("pointerleave", 0.5, 0.5);
  await soon();
  found.cursorsLeft = cursors();
}
async function zoom() {
  const before = texts();
  const differ = () => texts().filter((text, at) => text !== before[at]).length;
  for (const [type, x] of [["pointerdown", 0.4], ["pointermove", 0.5], ["pointermove", 0.6]]) pointer(type, x, 0.5);
  found.selections = all(".selection").length;
  pointer("pointerup", 0.6, 0.5);
  await soon();
  found.zoomed = differ();
  document.querySelector(".plot").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  await soon();
  found.zoomedAfterReset = differ();
  press("+");
  await soon();
  found.zoomedByKey = differ();
  press("Escape");
  await soon();
  found.zoomedAfterEscape = differ();
}
async function keyboard() {
  const flag = () => document.querySelector(".cursor text")?.textContent;
  press("ArrowRight");
  await soon();
  const first = flag();
  press("ArrowRight");
  await soon();
  found.steps = [first, flag()];
  found.spoken = document.querySelector(".spoken").textContent;
  press("Escape");
  await soon();
}
async function legend() {
  const before = shown();
  for (const entry of all(".legend button")) entry.click();
  found.hides = before - shown();
  found.entries = all(".legend button").length;
  found.pressed = all(".legend button[aria-pressed=true]").length;
  for (const entry of all(".legend button")) entry.click();
  found.series = shown();
}
function atRest() {
  const isNamed = (picture) => picture.getAttribute("role") === "img" && picture.getAttribute("aria-label");
  found.named = all(".plot").filter((picture) => isNamed(picture) && picture.querySelector("desc")?.textContent).length;
  found.tables = all(".card details.values tbody").filter((body) => body.rows.length > 0).length;
  found.idleValues = all(".legend output").filter((value) => value.textContent !== "").length;
  found.ends = all(".plot").map((picture) => all("text.end", picture).map((text) => text.textContent).join("|"));
  found.tallest = Math.max(...all(".plot").map((picture) => picture.getBoundingClientRect().height));
  found.logs = all(".tools button").filter((button) => button.textContent === "Log scale").length;
  found.window = innerWidth;
  found.page = document.documentElement.scrollWidth;
  const wider = all(".scroll").filter((place) => place.scrollWidth > place.clientWidth + 1);
  found.wider = wider.length;
  found.wideReached = wider.filter((place) => place.tabIndex === 0 && place.getAttribute("aria-label")).length;
  found.wideSaid = wider.filter((place) => getComputedStyle(place, "::before").content.includes("Scrolls")).length;
  const top = (selector) => document.querySelector(selector)?.getBoundingClientRect().bottom ?? Infinity;
  found.verdictAt = top(".badge");
}
addEventListener("load", async () => {
  await soon();
  atRest();
  found.charts = all(".plot").length;
  if (found.charts > 0) {
    await hover();
    await zoom();
    await keyboard();
    await legend();
  }
  const tools = all(".tools button");
  for (const button of tools) {
    button.click();
    await soon();
  }
  await soon();
  found.tools = tools.length;
  found.blank = all(".plot").filter(isBlank).length;
  found.fetched = performance.getEntriesByType("resource").filter((one) => !/^(blob|data):/.test(one.name)).length;
  found.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const line = document.querySelector(".series path[stroke]");
  found.stroke = line && getComputedStyle(line).stroke;
  found.text = getComputedStyle(document.body).color;
  document.title = "FOUND " + JSON.stringify(found);
});
</script>"#;

/// Opens a page with the probe in it; gives what the probe found, and the page as the browser has it.
fn open(scratch: &Scratch, page: &str, flags: &[&str]) -> (serde_json::Value, String) {
    let text = std::fs::read_to_string(scratch.path(page)).unwrap();
    let probed = text.replacen("<head>", &format!("<head>{PROBE}"), 1);
    assert_ne!(text, probed, "a page has a head");
    let file = scratch.file(&format!("probed-{page}"), probed);
    let flags: Vec<&str> =
        ["--virtual-time-budget=30000", "--dump-dom"].iter().chain(flags).copied().collect();
    let Ran { stdout: dom, stderr, .. } = chromium(scratch, &file, &flags);
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    let found = title.and_then(|title| title.strip_prefix("FOUND "));
    let found = found.unwrap_or_else(|| panic!("no probe in the page: {dom:.400} {stderr}"));
    (serde_json::from_str(&found.replace("&quot;", "\"")).unwrap(), dom)
}

/// The browser, on a file.
fn chromium(scratch: &Scratch, file: &str, flags: &[&str]) -> Ran {
    let mut command = Command::new("chromium");
    let profile = format!("--user-data-dir={}", scratch.path("profile").display());
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    // Names lead nowhere: a page that wants the network shows as an error.
    command.args(["--host-resolver-rules=MAP * ~NOTFOUND"]);
    command.args(flags).arg(profile).arg(format!("file://{file}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(
        Command::new("chromium").arg("--version").output().is_ok(),
        "this test needs a real browser: apt-get install -y chromium"
    );
    start(command).wait()
}

fn results(scratch: &Scratch) -> String {
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n\nGET {url}/status/500\n"));
    let file = crate::text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=100 -duration=2s -output={file}")).with_code(0);
    file
}

/// The report of a run, as a page.
fn report(scratch: &Scratch) -> String {
    let file = results(scratch);
    let page = crate::text(&scratch.path("report.html"));
    run(&format!("report -type=html -output={page} {file}")).with_code(0);
    page
}

#[test]
fn the_report_is_drawn_in_light_and_dark() {
    let scratch = Scratch::new("browser-report");
    report(&scratch);
    let light = (&[][..], false, "rgb(37, 99, 201)");
    let dark = (&["--blink-settings=preferredColorScheme=0"][..], true, "rgb(110, 162, 245)");
    for (flags, dark, stroke) in [light, dark] {
        let (found, dom) = open(&scratch, "report.html", flags);
        assert_eq!(found["dark"], dark, "{found}");
        assert_eq!(found["stroke"], stroke, "the first line's colour follows the page: {found}");
        assert_eq!((&found["errors"], &found["fetched"]), (&0.into(), &0.into()), "{found}");
        assert_eq!((&found["charts"], &found["blank"]), (&6.into(), &0.into()), "{found}");
        assert_eq!(found["saved"], 6, "each chart is saved as a picture: {found}");
        assert!(found["tools"].as_u64().unwrap() >= 12, "{found}");
        for text in ["VALID", "Latencies", "Status codes", "500"] {
            assert!(dom.contains(text), "{text} is not in the page");
        }
    }
}

/// Three charts of the report have the same seconds on their horizontal axis: what is read or shown of it is one for them.
#[test]
fn charts_answer_pointer_and_keyboard() {
    let scratch = Scratch::new("browser-answers");
    report(&scratch);
    let (found, _) = open(&scratch, "report.html", &[]);
    assert_eq!((&found["cursors"], &found["cursorsLeft"]), (&3.into(), &0.into()), "{found}");
    assert!(found["values"].as_u64().unwrap() >= 5, "the legends read at the cursor: {found}");
    assert_eq!((&found["selections"], &found["zoomed"]), (&1.into(), &3.into()), "{found}");
    assert_eq!((&found["zoomedAfterReset"], &found["zoomedAfterEscape"]), (&0.into(), &0.into()));
    assert_eq!(found["zoomedByKey"], 3, "{found}");
    assert_eq!(found["steps"], serde_json::json!(["0", "0.25"]), "from cell to cell: {found}");
    let spoken = found["spoken"].as_str().unwrap();
    assert!(spoken.starts_with("Seconds elapsed 0.25: p50 "), "{spoken}");
    assert_eq!((&found["hides"], &found["pressed"]), (&found["entries"], &0.into()), "{found}");
    assert_eq!(found["series"], found["entries"], "they come back: {found}");
}

/// What is not seen is there for screen readers; what is seen does not need colours or a pointer.
#[test]
fn every_chart_has_a_name_a_description_and_a_table() {
    let scratch = Scratch::new("browser-names");
    report(&scratch);
    let (found, _) = open(&scratch, "report.html", &[]);
    assert_eq!((&found["named"], &found["tables"]), (&6.into(), &6.into()), "{found}");
    assert_eq!(found["idleValues"], 0, "a legend without a cursor has names alone: {found}");
    let ends = found["ends"].as_array().unwrap();
    assert_eq!(ends[1].as_str().unwrap().matches('|').count(), 2, "answered, due, errors: {found}");
    assert!(ends[0].as_str().unwrap().contains("p99"), "lines have their names: {found}");
}

/// On a phone the page itself does not scroll sideways, the verdict is in sight, and wide tables say that they scroll.
#[test]
fn a_narrow_screen_shows_the_verdict_and_that_tables_scroll() {
    let scratch = Scratch::new("browser-narrow");
    report(&scratch);
    let (found, _) = open(&scratch, "report.html", &["--window-size=390,844"]);
    let number = |key: &str| found[key].as_f64().unwrap();
    assert!(number("page") <= number("window"), "{found}");
    assert!(number("verdictAt") < 300.0, "{found}");
    assert!(number("wider") >= 1.0, "the table of latencies is wider: {found}");
    assert_eq!(found["wideReached"], found["wider"], "the Tab key reaches them: {found}");
    assert_eq!(found["wideSaid"], found["wider"], "{found}");
}

/// Without a script the page has every picture with its ticks, and its legends, and nothing that needs one.
#[test]
fn the_report_is_whole_without_a_script() {
    let scratch = Scratch::new("browser-no-script");
    let page = report(&scratch);
    let text = std::fs::read_to_string(page).unwrap();
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'\">";
    let barred = text.replacen("<head>", &format!("<head>{policy}"), 1);
    let barred = scratch.file("barred.html", barred);
    let dom = chromium(&scratch, &barred, &["--dump-dom"]).with_code(0).stdout;
    let pictures: Vec<&str> = dom.split("<svg class=\"plot\"").skip(1).collect();
    assert_eq!(pictures.len(), 6);
    for picture in pictures {
        let picture = picture.split("</svg>").next().unwrap();
        assert!(
            picture.contains("stroke-width=\"1.5\"") && picture.contains("</text>"),
            "{picture}"
        );
    }
    assert_eq!(dom.matches("<ul class=\"legend\">").count(), 6);
    assert!(!dom.contains("<button") && !dom.contains("<html lang=\"en\" class"), "no script ran");
}

/// On paper stand the pictures: a page without their lines prints to far less.
#[test]
fn the_report_prints_with_its_charts() {
    let scratch = Scratch::new("browser-print");
    let page = report(&scratch);
    let printed = |page: &str, name: &str| {
        let pdf = scratch.path(name);
        let to = format!("--print-to-pdf={}", pdf.display());
        chromium(&scratch, page, &["--no-pdf-header-footer", &to]).with_code(0);
        std::fs::read(pdf).unwrap()
    };
    let whole = printed(&page, "whole.pdf");
    assert!(whole.starts_with(b"%PDF"));
    // It was 11 pages, a third of each empty.
    let pages = whole.windows(12).filter(|bytes| bytes == b"/Type /Page\n").count();
    assert!((1..=4).contains(&pages), "{pages} pages");
    let text = std::fs::read_to_string(&page).unwrap();
    let style = "<style>.plot{visibility:hidden}</style></head>";
    let bare = scratch.file("bare.html", text.replacen("</head>", style, 1));
    let bare = printed(&bare, "bare.pdf");
    assert!(whole.len() > bare.len() + 2_000, "{} and {} bytes", whole.len(), bare.len());
}

#[test]
fn bars_are_drawn_without_a_script() {
    let scratch = Scratch::new("browser-bars");
    let page = crate::text(&scratch.path("bars.html"));
    let mut command = crate::brunt(&format!("plot -output={page}"));
    command.args(["-value", "load average:hash=1.15,round-robin=3.15,fair=3.28"]);
    let ran = start(command).wait().with_code(0);
    assert!(ran.stdout.contains("round-robin"), "{ran:#?}");
    let (found, dom) = open(&scratch, "bars.html", &[]);
    assert_eq!((&found["errors"], &found["fetched"]), (&0.into(), &0.into()), "{found}");
    assert_eq!(dom.matches("<rect class=\"calm").count(), 3, "{dom:.600}");
}

#[test]
fn a_plot_of_two_runs_is_drawn() {
    let scratch = Scratch::new("browser-plot");
    let file = results(&scratch);
    let page = crate::text(&scratch.path("plot.html"));
    run(&format!("plot -title=Two -output={page} before={file} after={file}")).with_code(0);
    let (found, dom) = open(&scratch, "plot.html", &[]);
    assert_eq!((&found["errors"], &found["fetched"]), (&0.into(), &0.into()), "{found}");
    assert!(found["charts"].as_u64().unwrap() >= 1 && found["blank"] == 0, "{found}");
    assert!(dom.contains("before") && dom.contains("after"));
    assert!(found["tallest"].as_f64().unwrap() <= 620.0, "{found}");
}

/// 8 runs of every request were a knot of lines, each with ": OK" behind its name.
#[test]
fn a_plot_of_many_runs_has_a_band_for_each_label() {
    let scratch = Scratch::new("browser-bands");
    let file = results(&scratch);
    let page = crate::text(&scratch.path("plot.html"));
    let runs = format!("before={file} before={file} after={file} after={file}");
    run(&format!("plot -output={page} {runs}")).with_code(0);
    let (found, dom) = open(&scratch, "plot.html", &[]);
    assert_eq!((&found["errors"], &found["blank"]), (&0.into(), &0.into()), "{found}");
    assert_eq!(found["entries"], 4, "a band and a line for each of two labels: {found}");
    assert_eq!(found["ends"], serde_json::json!(["before|after"]), "{found}");
    assert!(
        dom.contains("before: p50 of 2 runs") && dom.contains("of 400 requests failed"),
        "{dom:.300}"
    );
}
