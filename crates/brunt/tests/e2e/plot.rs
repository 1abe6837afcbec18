//! `plot` over labelled results: overlays with their tests, columns, other programs' tables, bad input.

use demo::{Config, ServiceTime};

use crate::{Scratch, run, server, text};

/// Results of runs against a server of this service time.
fn runs(scratch: &Scratch, name: &str, service: &str, count: usize) -> Vec<String> {
    let service = ServiceTime::parse(service).unwrap();
    let (_server, url) = server(Config { service, ..Config::default() });
    let one = |n: usize| {
        let file = text(&scratch.path(&format!("{name}{n}.arrow")));
        run(&format!("bench -c 4 -n 200 -q -output={file} {url}/")).with_code(0);
        file
    };
    (0..count).map(one).collect()
}

fn labelled(label: &str, files: &[String]) -> String {
    files.iter().map(|file| format!(" {label}={file}")).collect()
}

#[test]
fn a_slower_server_is_told_from_its_runs() {
    let scratch = Scratch::new("plot-overlay");
    let quick = runs(&scratch, "quick", "fixed:2ms", 5);
    let slow = runs(&scratch, "slow", "fixed:12ms", 5);
    let operands = labelled("quick", &quick) + &labelled("slow", &slow);
    let json = run(&format!("plot -overlay -json{operands}")).with_code(0).json();
    let found = &json["comparisons"][0];
    assert_eq!(found["unit"], "run", "{json}");
    // The comparison of the same files says the same. It adjusts for the throughput too, which a picture of times does not know.
    let sides = labelled("quick", &quick) + &labelled("slow", &slow);
    let compared = run(&format!("compare -json{sides}")).with_code(0).json();
    let p50 = &compared["metrics"][1];
    assert_eq!(p50["p"], found["p"], "{json}");
    assert_eq!(p50["verdict"], "worse", "{p50}");
    for adjusted in [&p50["p_adjusted"], &found["p_adjusted"]] {
        assert!(adjusted.as_f64().unwrap() < 0.05, "{p50} {json}");
    }
    let shift = found["shift"].as_f64().unwrap() / 1e6;
    assert!((5.0..60.0).contains(&shift), "{shift} ms");
    assert!(found["ks_distance"].as_f64().unwrap() > 0.8, "{json}");
    let page = text(&scratch.path("o.html"));
    let single = format!("plot -overlay -output={page} quick={} slow={}", quick[0], slow[0]);
    let ran = run(&single).with_code(0);
    assert!(ran.stdout.contains("the requests of one run depend on one another"), "{ran:#?}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("KS distance"));
}

#[test]
fn client_and_server_times_side_by_side() {
    let scratch = Scratch::new("plot-columns");
    let client = &runs(&scratch, "client", "fixed:3ms", 1)[0];
    let table = "total,render,db,url\n0.07034,0.02500,0.01400,[http://h/a]\n0.1,0.05,0.02,[x]\n";
    let server = scratch.file("requests.csv", table.repeat(2));
    let svg = text(&scratch.path("p.svg"));
    let operands = format!(
        "client={client} wait={client}:wait dial={client}:dial server={server}:total[s] db={server}:db[s]"
    );
    for axis in ["linear", "tail"] {
        let ran = run(&format!("plot -percentiles -axis={axis} -output={svg} {operands}"));
        let ran = ran.with_code(0);
        assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:#?}");
        let drawn = std::fs::read_to_string(&svg).unwrap();
        for label in ["client", "wait", "dial", "server", "db"] {
            assert!(drawn.contains(&format!(">{label}</text>")), "{label}");
        }
        assert_eq!(drawn.contains("Share of requests (%)"), axis == "linear");
    }
    let json = run(&format!("plot -bars=p100,median -json server={server}:total[s]")).json();
    assert_eq!(json["metrics"][0]["bars"][0]["median"], 100.0, "{json}");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let scratch = Scratch::new("plot-bad");
    let table = scratch.file("t.csv", "total,url\n0.5,x\n");
    let csv = scratch.file("r.csv", "1700000000000000000,200,5,0,0,,,a,0,GET,http://h/,\n");
    let cases = [
        ("plot -bars=speed a=A".replace('A', &csv), 2, "unknown metric \"speed\""),
        (format!("plot -bars=rate a={table}:total[s]"), 2, "is a table of times"),
        (format!("plot -bars=mean a={table}:total"), 2, "needs its unit: total[s]"),
        (format!("plot -bars=mean a={table}:total[h]"), 2, "no unit \"h\""),
        (format!("plot -bars=mean a={csv}:foo"), 2, "expected response, service, wait or dial"),
        (
            format!("plot -percentiles a={csv}:wait"),
            4,
            "records only when requests began and ended",
        ),
        (format!("plot -percentiles a={table}"), 4, "t.csv"),
        (format!("plot a={csv}:wait"), 2, "a plot over time takes response times only"),
        (format!("plot -percentiles -overlay {csv}"), 2, "exclude each other"),
        (format!("plot -json {csv}"), 2, "need -bars or -overlay"),
        (format!("plot -overlay -type=html -json {csv}"), 2, "cannot both go to standard output"),
        (format!("plot -axis=linear {csv}"), 2, "-axis needs -percentiles"),
        (format!("plot -bars=mean -value=load:b=1 a={csv}"), 2, "no file has the label \"b\""),
        ("plot -value=load".to_owned(), 2, "is not NAME:LABEL=NUMBER"),
        ("plot -bars=mean a=/nowhere:total[s]".to_owned(), 3, "/nowhere"),
    ];
    for (line, code, words) in cases {
        let ran = run(&line).with_code(code);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{line}: {}", ran.stdout);
    }
}
