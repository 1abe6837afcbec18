//! `-web`: the live page in Chromium, driven through the browser's own protocol.

use demo::Config;
use serde_json::json;

use crate::chromium::Chromium;
use crate::{Scratch, Started, brunt, first_line, run, server, start};

/// A command with `-web`, and the URL that it prints.
fn live(line: &str) -> (Started, String) {
    let mut started = start(brunt(line));
    let line = first_line(started.child().stderr.as_mut().unwrap());
    let url = line.strip_prefix("live: ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (started, url)
}

const TEXT: &str = "document.body.innerText";

#[test]
fn a_run_is_watched_marked_and_stopped_in_the_browser() {
    let scratch = Scratch::new("live-run");
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n\nGET {url}/status/500\n"));
    let (running, page) =
        live(&format!("attack -targets={targets} -rate=200 -duration=60s -output=none -json -web"));
    let mut browser = Chromium::open(&scratch, &page);
    browser.until("document.querySelectorAll('.series path').length >= 5");
    browser.until(&format!("{TEXT}.includes('VALID so far')"));
    browser.until(&format!("{TEXT}.includes('status/500') && {TEXT}.includes('100 %')"));
    // A zoom stays while periods go on to come.
    browser.until("document.querySelector('progress').value > 3");
    let pixels = browser.value(
        "(() => { const heat = document.querySelector('canvas.heat');
           const all = heat.getContext('2d').getImageData(0, 0, heat.width, heat.height).data;
           return all.filter((value, at) => at % 4 === 3 && value > 0).length; })()",
    );
    assert!(pixels.as_u64() > Some(100), "the heat map is blank: {pixels}");
    browser.value("window.prompt = () => 'deploy <b>'; window.confirm = () => true");
    browser.click("Mark this moment");
    browser.until(&format!("{TEXT}.includes('deploy <b>')"));
    // Sorting by requests that failed.
    let first =
        "[...document.querySelectorAll('.tables table')][0].querySelector('tbody td').textContent";
    browser.click("Failed");
    browser.until(&format!("{first}.includes('status/500')"));
    browser.click("Failed");
    browser.until(&format!("!{first}.includes('status/500')"));
    browser.click("Stop");
    let ran = running.wait();
    browser.until(&format!("{TEXT}.includes('ended') && !{TEXT}.includes('so far')"));
    let report = ran.json();
    let seen = browser.value(
        "[...document.querySelectorAll('.tile')].find((tile) => tile.innerText.endsWith('requests')).querySelector('b').textContent.replace(/,/g, '')",
    );
    assert_eq!(seen, json!(report["requests"].to_string()), "the page has every request");
    assert_eq!(browser.errors(), [""; 0]);
}

/// Types a load into the page's field, and sets it.
fn set_load(browser: &mut Chromium, load: &str, button: &str) {
    browser.value(&format!("document.querySelector('.load input').value = '{load}'"));
    browser.click(button);
}

#[test]
fn a_rate_is_changed_and_paused_in_the_browser() {
    let scratch = Scratch::new("live-rate");
    let (_server, url) = server(Config::default());
    let (targets, results) =
        (scratch.file("targets", format!("GET {url}/\n")), scratch.path("rate.arrow"));
    let results = results.display();
    let (running, page) = live(&format!(
        "attack -targets={targets} -rate=200 -duration=60s -output={results} -json -web"
    ));
    let mut browser = Chromium::open(&scratch, &page);
    browser.until("document.querySelector('.load input').value === '200'");
    set_load(&mut browser, "nonsense", "Set rate");
    browser.until(&format!("{TEXT}.includes('invalid rate \"nonsense\"')"));
    set_load(&mut browser, "40/s", "Set rate");
    browser.until(&format!("{TEXT}.includes('rate 40/s')"));
    browser.click("Pause");
    browser
        .until("[...document.querySelectorAll('button')].some((b) => b.textContent === 'Resume')");
    browser.until("document.querySelector('progress').value > 6");
    browser.click("Resume");
    browser.until(&format!("{TEXT}.includes('resumed')"));
    browser.value("window.confirm = () => true");
    browser.click("Stop");
    let report = running.wait().json();
    let names = |events: &serde_json::Value| -> Vec<String> {
        let name = |event: &serde_json::Value| event["what"].as_str().unwrap().to_owned();
        events.as_array().unwrap().iter().map(name).collect()
    };
    let events = &report["brunt"]["events"];
    assert_eq!(names(events), ["rate", "pause", "resume"]);
    assert_eq!(events[0]["value"], 40);
    // The results have them as well, and the rate that was asked for on average.
    let again = run(&format!("report -type=json {results}")).json();
    assert_eq!(&again["brunt"]["events"], events);
    let asked = again["brunt"]["generator"]["rate"].as_f64().unwrap();
    assert!((20.0..190.0).contains(&asked), "{asked}");
    let text = run(&format!("report {results}"));
    assert!(text.stdout.contains("The load was changed by hand 3 times: rate 40/s after"));
    let page = run(&format!("report -type=html {results}"));
    assert!(page.stdout.contains("changes of the load"), "lines in the charts");
    let [refused] = browser.errors() else { panic!("{:?}", browser.errors()) };
    assert!(refused.contains("400 (Bad Request)"), "only what was nonsense: {refused}");
}

#[test]
fn users_are_changed_in_the_browser() {
    let scratch = Scratch::new("live-users");
    let (_server, url) = server(Config::default());
    let (running, page) = live(&format!("bench -c=3 -duration=60s -output=none -json -web {url}/"));
    let mut browser = Chromium::open(&scratch, &page);
    browser.until("document.querySelector('.load input').value === '3'");
    set_load(&mut browser, "12", "Set users");
    browser.until(&format!("{TEXT}.includes('users 12')"));
    browser.until("document.querySelector('progress').value > 4");
    browser.value("window.confirm = () => true");
    browser.click("Stop");
    let report = running.wait().json();
    assert_eq!(report["brunt"]["events"][0]["value"], 12);
    assert_eq!(report["brunt"]["generator"]["connections"], 12, "a connection for each user");
}

#[test]
fn a_script_shows_its_checks_and_thresholds() {
    let scratch = Scratch::new("live-script");
    let (_server, url) = server(Config::default());
    let script = scratch.file(
        "script.js",
        format!(
            "import http from 'k6/http'; import {{ check, group, sleep }} from 'k6';
             export const options = {{ vus: 2, duration: '40s', thresholds: {{ checks: ['rate>0.9'] }} }};
             export default () => {{
               check(http.get('{url}/'), {{ 'is fine': (r) => r.status === 200, 'is not': (r) => r.status === 1 }});
               group('shop', () => http.get('{url}/'));
               console.warn('\x1b[31mseen in <the> log');
               sleep(0.05);
             }};"
        ),
    );
    let (running, page) = live(&format!("run -q -web=127.0.0.1:0 {script}"));
    let mut browser = Chromium::open(&scratch, &page);
    for text in [
        "is fine",
        "rate>0.9",
        "not met",
        "http_req_duration",
        "VUS",
        "seen in <the> log",
        "by group",
        "::shop",
    ] {
        browser.until(&format!("{TEXT}.toUpperCase().includes({:?})", text.to_uppercase()));
    }
    browser.value("window.confirm = () => true");
    browser.click("Stop");
    let ran = running.wait();
    assert_eq!(ran.code, Some(105), "{}", ran.stderr);
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
fn the_servers_side_is_on_the_page() {
    let scratch = Scratch::new("live-server");
    let (_server, url) = server(Config::default());
    let (pid, results) = (std::process::id(), scratch.path("r.arrow"));
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let (running, page) = live(&format!(
        "attack -targets={targets} -rate=50 -duration=60s -watch-pid={pid} -watch-every=200ms -output={} -web",
        results.display()
    ));
    let mut browser = Chromium::open(&scratch, &page);
    for text in [
        "Processors of the server",
        "Memory of the server",
        "cores busy",
        "Machine ",
        "TCP retransmits",
    ] {
        browser.until(&format!("{TEXT}.toUpperCase().includes({:?})", text.to_uppercase()));
    }
    // This process is one of the lines, and the line is drawn.
    browser.until(&format!(
        "[...document.querySelectorAll('.legend li')].some((one) => !one.hidden && one.innerText.includes(' {pid} '))"
    ));
    let drawn = "[...document.querySelectorAll('.card')].find((card) => card.innerText.includes('Memory of the server'))
        .querySelectorAll('.series path[d*=\"L\"]').length > 0";
    browser.until(drawn);
    browser.value("window.confirm = () => true");
    browser.click("Stop");
    assert_eq!(running.wait().code, Some(0));
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
fn a_study_shows_its_runs() {
    let scratch = Scratch::new("live-study");
    let file = crate::study::template(&scratch);
    let out = scratch.path("out");
    let (running, page) = live(&format!("study run {file} -quick -out {} -web", out.display()));
    let mut browser = Chromium::open(&scratch, &page);
    for text in ["under way", "of 12", "closed on ", "So far: medians of runs", "VALID"] {
        browser.until(&format!("{TEXT}.toUpperCase().includes({:?})", text.to_uppercase()));
    }
    browser.until("document.querySelector('progress').value > 0");
    browser.value("window.confirm = () => true");
    browser.click("Stop");
    let ran = running.wait();
    assert_eq!(ran.code, Some(11), "{}", ran.stderr);
    browser.until(&format!(
        "{TEXT}.includes('ended') && {TEXT}.includes('interrupted: the same command')"
    ));
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
fn a_script_opens_the_browser_where_k6s_variable_says_so() {
    let scratch = Scratch::new("live-open");
    let (_server, url) = server(Config::default());
    let script = scratch.file(
        "script.js",
        format!("import http from 'k6/http'; export default () => {{ http.get('{url}/'); }};"),
    );
    let opened = scratch.path("opened");
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let program = scratch.file(program, format!("#!/bin/sh\necho \"$1\" > {}\n", opened.display()));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
    let path = format!("{}:{}", scratch.path("").display(), std::env::var("PATH").unwrap());
    let mut command = brunt(&format!("run -q -d 2s {script}"));
    command.env("PATH", path);
    for (name, value) in [("", "true"), ("_PORT", "0"), ("_OPEN", "true")] {
        command.env(format!("K6_WEB_DASHBOARD{name}"), value);
    }
    let ran = start(command).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = ran.stderr.lines().find_map(|line| line.strip_prefix("live: ")).unwrap();
    assert_eq!(std::fs::read_to_string(&opened).unwrap().trim(), page);
}

#[test]
fn a_search_shows_its_steps() {
    let scratch = Scratch::new("live-search");
    let (_server, url) = server(Config { workers: 1, ..Config::default() });
    let (running, page) = live(&format!(
        "seek -objective=p99<500ms -from=20 -to=40 -step=2s -budget=30s -web {url}/"
    ));
    let mut browser = Chromium::open(&scratch, &page);
    browser.until(&format!("{TEXT}.includes('Runs of this command')"));
    drop(running);
}

#[test]
fn a_port_that_is_taken_disturbs_no_run() {
    let (_server, url) = server(Config::default());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let ran = start(brunt(&format!("bench -n=20 -output=none -json -web {address} {url}/"))).wait();
    assert_eq!(ran.code, Some(0));
    let line = format!(
        "-web: cannot listen on \"{address}\": address already in use; the run goes on without the live page"
    );
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    assert!(ran.stdout.contains("\"requests\":20"), "{}", ran.stdout);
}
