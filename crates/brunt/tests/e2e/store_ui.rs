//! `ui`: the store in Chromium.

use demo::{Config, ServiceTime};
use serde_json::json;

use crate::chromium::Chromium;
use crate::{Scratch, Started, brunt, first_line, run, server, start};

/// A store with three runs of a slow server and three of a fast one.
fn stored(scratch: &Scratch) -> String {
    let store = crate::text(&scratch.path("store"));
    for (name, service) in [("slow", "fixed:20ms"), ("fast", "fixed:2ms")] {
        let config = Config { service: ServiceTime::parse(service).unwrap(), ..Config::default() };
        let (_server, url) = server(config);
        for _ in 0..3 {
            run(&format!(
                "bench -n=40 -c=2 -output=none -q -save={name} -store={store} -label server={name} {url}/"
            ))
            .with_code(0);
        }
    }
    store
}

fn ui(store: &str) -> (Started, String) {
    let mut started = start(brunt(&format!("ui -store={store} -listen=127.0.0.1:0")));
    let line = first_line(started.child().stderr.as_mut().unwrap());
    let url = line.strip_prefix("ui: ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (started, url)
}

const TEXT: &str = "document.body.innerText";

#[test]
fn runs_are_found_compared_and_noted_in_the_browser() {
    let scratch = Scratch::new("store-ui");
    let store = stored(&scratch);
    let (_ui, url) = ui(&store);
    let mut browser = Chromium::open(&scratch, &url);
    let says = |text: &str| format!("{TEXT}.toLowerCase().includes({:?})", text.to_lowercase());
    browser.until(&says("6 runs"));
    assert_eq!(
        browser.value("document.cookie"),
        json!(""),
        "other ports of this host get no token"
    );
    let at = browser.value("location.pathname").as_str().unwrap().to_owned();

    browser
        .value("document.querySelectorAll('[name=run]').forEach((box) => { box.checked = true })");
    browser.click("Compare");
    browser.until(&says("better"));
    browser.until("document.querySelectorAll('.plot').length > 0");
    let comparison = browser.value("location.pathname + location.search");
    assert!(comparison.as_str().unwrap().matches("run=").count() == 6, "{comparison}");
    browser.act("[...document.querySelectorAll('a')].find((one) => one.textContent.startsWith('Draw')).click()");
    browser.until(
        "document.querySelectorAll('.series').length >= 2 && location.pathname.endsWith('/curves')",
    );

    browser.act(&format!("location = '{at}?q=server%3Dfast'"));
    browser.until(&says("3 runs"));
    browser.act("document.querySelector('tbody a').click()");
    browser.until(&says("what ran"));
    browser.value("document.querySelector('[name=note]').value = 'with <b>Puma</b> 7'; document.querySelector('[name=labels]').value = 'server=fast\\nruby=3.4'");
    browser.click("Save");
    browser.until("document.querySelector('[name=note]')?.defaultValue === 'with <b>Puma</b> 7'");
    browser.until(&says("ruby=3.4"));
    let run_at = browser.value("location.pathname");
    browser.act("[...document.querySelectorAll('a')].find((one) => one.textContent === 'Report with charts').click()");
    browser.until("document.querySelectorAll('.plot').length > 1");

    browser.act(&format!("location = '{at}trend?name=slow&metric=p50'"));
    browser.until(&says("no change of level"));
    // Each run has a mark: a dot, or a cross where other tests beside this one made it INVALID.
    browser.until("document.querySelectorAll('.series g > *').length === 3");
    browser.act(&format!("location = {run_at}"));
    browser.until(&says("with <b>puma</b> 7"));
    assert_eq!(browser.errors(), [""; 0]);
    let found = run(&format!("runs list -json -store={store} -search=Puma")).with_code(0).json();
    assert_eq!(found["runs"][0]["labels"], json!({ "server": "fast", "ruby": "3.4" }));
}

#[test]
fn a_store_shows_nothing_without_its_token() {
    let scratch = Scratch::new("store-ui-token");
    let store = crate::text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    run(&format!("bench -n=4 -output=none -q -save=one -store={store} {url}/")).with_code(0);
    let (ui, with_token) = ui(&store);
    let (base, token) = with_token.split_once("?token=").unwrap();
    let code = |line: &str| {
        let mut command = std::process::Command::new("curl");
        command.args(["-s", "-o", "/dev/null", "-w", "%{http_code}"]).args(line.split(' '));
        command.stdout(std::process::Stdio::piped());
        start(command).wait().stdout
    };
    let at = format!("{base}{token}/");
    assert_eq!(code(base), "403");
    assert_eq!(code(&format!("{base}?token={}", "0".repeat(32))), "403");
    assert_eq!(code(&with_token), "303");
    assert_eq!(code(&at), "200");
    assert_eq!(code(&format!("{at}run/../../../etc/passwd --path-as-is")), "404");
    assert_eq!(code(&format!("{at}run/none")), "404");
    assert_eq!(code(&format!("{at}compare")), "400");
    assert_eq!(code(&format!("-X POST -d note=x {at}run/none/notes")), "404");
    assert_eq!(code(&format!("{base}document/0000000000000000/none/report.html")), "403");
    let head = |url: &str| {
        let mut command = std::process::Command::new("curl");
        command.args(["-s", "-i", url]).stdout(std::process::Stdio::piped());
        start(command).wait().stdout
    };
    // The browser would send a cookie to every other port of the host.
    assert!(!head(&with_token).contains("Set-Cookie"));
    assert!(head(&with_token).contains(&format!("Location: /{token}/\r\n")));
    for stranger in ["Host: evil.example", "Origin: http://evil.example"] {
        let mut command = std::process::Command::new("curl");
        command.args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", stranger, "-X", "POST"]);
        command.arg(format!("{at}run/none/notes"));
        command.stdout(std::process::Stdio::piped());
        assert_eq!(start(command).wait().stdout, "403", "{stranger}");
    }
    ui.end();
    // A token is its process's: one that came with the store is worth nothing, and no link of it is followed.
    let (file, precious) = (format!("{store}/.token"), scratch.path("precious"));
    std::fs::write(&precious, token).unwrap();
    std::os::unix::fs::symlink(&precious, &file).unwrap();
    let (_again, second) = self::ui(&store);
    assert!(!second.ends_with(token), "{second}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), token);
}

/// The page of a run that came from elsewhere is of no origin: its script reaches no other page of the store.
#[test]
fn a_stored_page_reaches_nothing_of_the_store() {
    let scratch = Scratch::new("store-ui-hostile");
    let store = crate::text(&scratch.path("store"));
    let (_server, url) = server(Config::default());
    run(&format!("bench -n=4 -output=none -q -save=one -store={store} {url}/")).with_code(0);
    let listed = run(&format!("runs list -json -store={store}")).json();
    let id = listed["runs"][0]["id"].as_str().unwrap().to_owned();
    let page =
        "<!DOCTYPE html><p id=p>waits</p><script>fetch('/').then((answer) => answer.text()).then(
        () => { p.textContent = 'reached'; }, () => { p.textContent = 'refused'; })</script>";
    std::fs::write(format!("{store}/{id}/report.html"), page).unwrap();
    let (_ui, url) = ui(&store);
    let mut browser = Chromium::open(&scratch, &url);
    browser.until(&format!("{TEXT}.includes('one')"));
    browser.act("document.querySelector('tbody a').click()");
    browser.until(&format!("{TEXT}.toLowerCase().includes('what ran')"));
    browser.act("[...document.querySelectorAll('a')].find((one) => one.textContent === 'Report with charts').click()");
    browser.until("document.getElementById('p')?.textContent === 'refused'");
    // Nothing that its script reads has the token.
    let token = url.split_once("?token=").unwrap().1;
    let seen = browser.value("[location.href, document.referrer, document.documentElement.outerHTML, ...performance.getEntries().map((one) => one.name)].join()");
    assert!(
        seen.as_str().unwrap().contains(&id) && !seen.as_str().unwrap().contains(token),
        "{seen}"
    );
}

#[test]
fn what_cannot_be_served_is_refused() {
    let scratch = Scratch::new("store-ui-bad");
    let missing = crate::text(&scratch.path("none"));
    run(&format!("ui -store={missing}"))
        .with_code(3)
        .complains_once(&["there is no store", "-save"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let place = crate::text(&scratch.0);
    run(&format!("ui -store={place} -listen={address}"))
        .with_code(1)
        .complains_once(&["flag -listen", "address already in use"]);
    run("ui x").with_code(2);
}
