//! The HTML report and the plot in a real Chromium: everything is drawn, every button works, nothing is fetched.

use std::process::{Command, Stdio};

use demo::Config;

use crate::{Ran, Scratch, run, server, start};

/// Appended to a page under test: counts errors, clicks every button, and writes what it found into the title.
const PROBE: &str = r#"<script>
const found = { errors: 0, clicks: 0, saved: 0, blank: 0, fetched: 0 };
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
function isBlank(canvas) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return !data.some((value) => value !== 0);
}
addEventListener("load", async () => {
  for (const button of document.querySelectorAll("button")) {
    button.click();
    found.clicks++;
    await new Promise((done) => setTimeout(done, 50));
  }
  await new Promise((done) => setTimeout(done, 500));
  found.charts = document.querySelectorAll("canvas").length;
  found.blank = [...document.querySelectorAll("canvas")].filter(isBlank).length;
  found.fetched = performance.getEntriesByType("resource").filter((one) => !one.name.startsWith("blob:")).length;
  found.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.title = "FOUND " + JSON.stringify(found);
});
</script>"#;

/// Opens a page with the probe in it; gives what the probe found, and the page as the browser has it.
fn open(scratch: &Scratch, page: &str, flags: &[&str]) -> (serde_json::Value, String) {
    let text = std::fs::read_to_string(scratch.path(page)).unwrap();
    let probed = text.replacen("<head>", &format!("<head>{PROBE}"), 1);
    assert_ne!(text, probed, "a page has a head");
    let file = scratch.file(&format!("probed-{page}"), probed);
    let mut command = Command::new("chromium");
    let profile = format!("--user-data-dir={}", scratch.path("profile").display());
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    // Names lead nowhere: a page that wants the network shows as an error.
    command.args([
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]);
    command.args(flags).arg(profile).arg(format!("file://{file}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(
        Command::new("chromium").arg("--version").output().is_ok(),
        "this test needs a real browser: apt-get install -y chromium"
    );
    let Ran { stdout: dom, stderr, .. } = start(command).wait();
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    let found = title.and_then(|title| title.strip_prefix("FOUND "));
    let found = found.unwrap_or_else(|| panic!("no probe in the page: {dom:.400} {stderr}"));
    (serde_json::from_str(&found.replace("&quot;", "\"")).unwrap(), dom)
}

fn results(scratch: &Scratch) -> String {
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n\nGET {url}/status/500\n"));
    let file = crate::text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=100 -duration=2s -output={file}")).with_code(0);
    file
}

#[test]
fn the_report_is_drawn_in_light_and_dark() {
    let scratch = Scratch::new("browser-report");
    let file = results(&scratch);
    let page = crate::text(&scratch.path("report.html"));
    run(&format!("report -type=html -output={page} {file}")).with_code(0);
    for (flags, dark) in [(&[][..], false), (&["--blink-settings=preferredColorScheme=0"], true)] {
        let (found, dom) = open(&scratch, "report.html", flags);
        assert_eq!(found["dark"], dark, "{found}");
        assert_eq!((&found["errors"], &found["fetched"]), (&0.into(), &0.into()), "{found}");
        assert_eq!((&found["charts"], &found["blank"]), (&6.into(), &0.into()), "{found}");
        assert_eq!(found["saved"], 6, "each chart is saved as a picture: {found}");
        assert!(found["clicks"].as_u64().unwrap() >= 10, "{found}");
        for text in ["VALID", "Latencies", "Status codes", "500"] {
            assert!(dom.contains(text), "{text} is not in the page");
        }
    }
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
}
