//! Tables of the grammar, of what is refused, and of what is judged, for hand-made requests.

use stdx::Nanos;

use super::*;
use crate::tally::Assertion;
use crate::{
    Batch, FailureKind, Generator, GrpcStatus, Outcome, Sample, Summary, TargetLabel, TargetTable,
};

fn gates(text: &str) -> Gates {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn gates_are_read() {
    use GateMetric::{Bytes, Errors, Rate, Requests, Response, Service, Status, Success};
    use GateUnit::{Count, PerSecond, Share, ShareOfPlanned, Time};
    use Statistic::{Max, Mean, Min, Percentile};
    let cases = [
        ("p99>300ms", Response(Percentile(99.0)), Op::Above, 300e6, Time),
        ("p99.9 >= 1s", Response(Percentile(99.9)), Op::AtLeast, 1e9, Time),
        ("latency.p50>1ms", Response(Percentile(50.0)), Op::Above, 1e6, Time),
        ("median<1ms", Response(Percentile(50.0)), Op::Below, 1e6, Time),
        ("service.p99>300ms", Service(Percentile(99.0)), Op::Above, 300e6, Time),
        ("mean>1s", Response(Mean), Op::Above, 1e9, Time),
        ("min<=1us", Response(Min), Op::AtMost, 1e3, Time),
        ("max>2m", Response(Max), Op::Above, 120e9, Time),
        ("errors>0.1%", Errors, Op::Above, 0.001, Share),
        ("errors>0.001", Errors, Op::Above, 0.001, Share),
        ("errors>0", Errors, Op::Above, 0.0, Count),
        ("errors>=5", Errors, Op::AtLeast, 5.0, Count),
        ("success<99%", Success, Op::Below, 0.99, Share),
        ("status.5xx>1%", Status(StatusSet::Class(5)), Op::Above, 0.01, Share),
        ("status.503>0", Status(StatusSet::One(503)), Op::Above, 0.0, Count),
        ("status.UNAVAILABLE>0", Status(StatusSet::Grpc(unavailable())), Op::Above, 0.0, Count),
        ("rate<95%", Rate, Op::Below, 0.95, ShareOfPlanned),
        ("rate<100", Rate, Op::Below, 100.0, PerSecond),
        ("rate < 99.5/s", Rate, Op::Below, 99.5, PerSecond),
        ("requests<1000", Requests, Op::Below, 1000.0, Count),
        ("bytes<10KB", Bytes, Op::Below, 10240.0, GateUnit::Bytes),
    ];
    for (text, metric, op, limit, unit) in cases {
        let read = gates(text);
        let [gate] = read.list() else { panic!("{text}: {read:?}") };
        assert_eq!((gate.metric, gate.op, gate.unit), (metric, op, unit), "{text}");
        assert!((gate.limit - limit).abs() <= 1e-12 * limit, "{text}: {}", gate.limit);
        assert_eq!(gate.expression, text);
    }
}

fn unavailable() -> GrpcStatus {
    GrpcStatus::from_name("UNAVAILABLE").unwrap()
}

/// Issue 43: an error of gRPC is one, though its HTTP status is 200.
#[test]
fn calls_of_grpc_are_judged_by_their_own_status() {
    let call = |status| Sample { outcome: Outcome::Grpc(status), ..Sample::default() };
    let message = Sample { outcome: Outcome::Message, ..Sample::default() };
    let samples = vec![call(unavailable()), call(GrpcStatus::OK), call(GrpcStatus::OK), message];
    let batch = Batch { samples, ..Batch::default() };
    let mut summary = Summary::new();
    summary.add(&batch);
    assert_eq!((summary.successes, summary.failed()), (3, 0));
    let failed = summary.failure_counts().most_frequent();
    assert_eq!(failed[0].0.in_words(), "status UNAVAILABLE");
    assert_eq!(summary.status_codes(), [(200, 3), (503, 1)].into());
    let text = "errors>0, status.UNAVAILABLE>0, errors{status:UNAVAILABLE}>0, status.OK>2, status.5xx>0, status.200>0";
    let mut figures = GateFigures::new(gates(text));
    figures.add(&batch, &TargetTable::default());
    let run = JudgedRun {
        summary: &summary,
        is_part: false,
        generator: None,
        has_service_times: true,
        asserted: &[],
    };
    let crossed = figures
        .outcomes(&run)
        .iter()
        .map(|outcome| outcome.state == GateState::Crossed)
        .collect::<Vec<_>>();
    assert_eq!(crossed, [true, true, true, false, false, false]);
    for refused in ["errors{status:OK}>0", "status.unavailable>0"] {
        assert!(refused.parse::<Gate>().is_err(), "{refused}");
    }
}

#[test]
fn selectors_are_read_with_commas_and_quotes() {
    let read = gates(
        "p99{name:login}>300ms, errors{ status : 5xx , name : \"a, {b}\" }>0.1%, p50{target:\"GET http://h/?a=<1>,2\"}>1s",
    );
    let selectors: Vec<&Selector> = read.list().iter().map(|gate| &gate.selector).collect();
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(*selectors[0], Selector { name: named("login"), ..Selector::default() });
    let status = Some(StatusSet::Class(5));
    assert_eq!(*selectors[1], Selector { name: named("a, {b}"), status, ..Selector::default() });
    let target = named("GET http://h/?a=<1>,2");
    assert_eq!(*selectors[2], Selector { target, ..Selector::default() });
}

#[test]
fn a_gate_that_is_wrong_is_refused_with_what_to_give() {
    let cases = [
        ("", "an empty gate (expected one such as p99>300ms"),
        ("p99>1s,", "an empty gate"),
        ("p99", "\"p99\" compares nothing"),
        ("p99=1s", "\"p99=1s\" compares nothing"),
        ("p99{name:a}=1s", "compares nothing"),
        ("latency>1s", "\"latency\" in \"latency>1s\" is no metric (expected p99,"),
        ("rtt.p99>1s", "is no metric"),
        ("p100>1s", "is no percentile (expected above p0 and below p100)"),
        ("p0>1s", "is no percentile"),
        ("service.p101>1s", "is no percentile"),
        ("status.6xx>0", "\"6xx\" in \"status.6xx>0\" is no status"),
        ("status.99>0", "is no status"),
        ("status.999>0", "is no status"),
        ("p99{status:abc}>1s", "is no status"),
        ("p99{}>1s", "the braces select nothing (expected {name:NAME}"),
        ("p99{name}>1s", "the braces select nothing"),
        ("p99{:red}>1s", "the braces select nothing"),
        ("p99{a b:red}>1s", "the braces select nothing"),
        ("p99{page:a,page:b}>1s", "the braces select nothing"),
        ("p99{page:\"a,b\"}>1s", "the braces select nothing"),
        ("service.p99{page:a}>1s", "this metric cannot be selected by a script's tag"),
        ("status.503{page:a}>0", "this metric cannot be selected by a script's tag"),
        ("bytes{page:a}<1", "this metric cannot be selected by a script's tag"),
        ("p99{page:a,status:200}>1s", "cannot be selected by status or target as well"),
        ("rate{page:a}<95%", "the share of the planned rate cannot be selected by name, method"),
        ("thresholds{page:a}>0", "what a script asserts cannot be selected by"),
        ("checks{name:a}<1%", "what a script asserts cannot be selected by"),
        ("thresholds>1%", "(expected a whole number of crossed thresholds, such as 0)"),
        ("checks<5", "(expected a share such as 99%)"),
        ("thresholds>=0", "is always true"),
        ("checks>100%", "can never be true"),
        ("p99{name:a,name:b}>1s", "the braces select nothing"),
        ("p99{name:a>1s", "the braces select nothing"),
        ("p99{name:\"a}>1s", "the braces select nothing"),
        ("success{status:2xx}<1%", "success cannot be selected by status"),
        ("status.503{status:5xx}>0", "status cannot be selected by status"),
        ("rate{name:a}<95%", "the share of the planned rate cannot be selected by name"),
        ("p99>300", "is no limit of this metric (expected a time with its unit, such as 300ms)"),
        ("errors>1ms", "(expected a share such as 0.1% or 0.001, or a whole number"),
        ("errors>101%", "is no limit"),
        ("errors>1.5", "is no limit"),
        ("errors>-1", "is no limit"),
        ("errors>NaN", "is no limit"),
        ("rate<fast", "(expected requests per second such as 100"),
        ("requests<1.5", "(expected a whole number of requests)"),
        ("bytes<1x", "(expected a size such as 512 or 10KB)"),
        ("errors>100%", "\"errors>100%\" can never be true, so the gate cannot fail"),
        ("errors<0", "can never be true"),
        ("success<0%", "can never be true"),
        ("p99<0s", "can never be true"),
        ("p99<=0s", "can never be true"),
        ("rate<0", "can never be true"),
        ("errors{status:200}>0", "can never be true"),
        ("p99>0s", "\"p99>0s\" is always true, so every run fails"),
        ("p99>=0s", "is always true"),
        ("errors>=0", "is always true"),
        ("success<=100%", "is always true"),
    ];
    for (text, words) in cases {
        let error = text.parse::<Gates>().expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let many = vec!["max>1s"; GATES_MAX + 1].join(",");
    assert_eq!(many.parse::<Gates>(), Err(GateError::TooMany));
}

#[test]
fn gates_of_which_every_run_crosses_one_are_refused() {
    let contradictions = [
        "p99>300ms, p99<=300ms",
        "p99>300ms, p99<400ms",
        "p99>=300ms, p99<300ms",
        "p99>300ms, p50<400ms",
        "max>1s, min<2s",
        "mean>1s, min<2s",
        "p99>300ms, service.p99<400ms",
        "errors>1%, errors<2%",
        "p99{name:a}>1s, p99{name:a}<2s",
    ];
    for text in contradictions {
        let error = text.parse::<Gates>().expect_err(text);
        assert!(matches!(error, GateError::Contradiction(..)), "{text}: {error}");
    }
    let possible = [
        "p99>300ms, p99<300ms",
        "p99>300ms, p50<200ms",
        "p50>300ms, p99<400ms",
        "mean>1s, p50<2s",
        "service.p99>300ms, p99<400ms",
        "p99{name:a}>1s, p99{name:b}<2s",
        "errors>1%, errors<2",
    ];
    for text in possible {
        assert!(text.parse::<Gates>().is_ok(), "{text}");
    }
    let both = gates("p99>300ms").and(gates("p99<400ms"));
    assert!(matches!(both, Err(GateError::Contradiction(..))), "{both:?}");
}

/// Two targets: `fast` answered after 1 to 100 ms, every tenth with 503; `slow` after 1 s, and the last not within its timeout
/// of 2 s.
fn figures(text: &str) -> Vec<GateOutcome> {
    judged(text, Some(10.0), true)
}

fn judged(text: &str, rate_per_s: Option<f64>, has_service_times: bool) -> Vec<GateOutcome> {
    let label = |name: &str| TargetLabel {
        method: "GET".to_owned(),
        url: format!("http://h/{name}"),
        name: name.to_owned(),
        ..TargetLabel::default()
    };
    let targets = TargetTable::from(vec![label("fast"), label("slow")]);
    let at = |n: u64| Nanos::from_millis(100 * n);
    let fast = |n: u64| Sample {
        intended: at(n),
        sent: at(n),
        done: at(n) + Nanos::from_millis(n),
        outcome: Outcome::Http(if n.is_multiple_of(10) { 503 } else { 200 }),
        bytes_in: 10,
        ..Sample::default()
    };
    let slow = |n: u64| Sample {
        intended: at(n),
        sent: at(n) + Nanos::from_millis(500),
        done: at(n) + Nanos::from_secs(if n == 10 { 2 } else { 1 }),
        outcome: Outcome::http(if n == 10 { 0 } else { 200 }),
        failure: if n == 10 { FailureKind::Timeout } else { FailureKind::None },
        target: 1,
        ..Sample::default()
    };
    let samples = (1..=100).map(fast).chain((1..=10).map(slow)).collect();
    let batch = Batch { samples, ..Batch::default() };
    let mut summary = Summary::new();
    summary.add(&batch);
    let mut figures = GateFigures::new(gates(text));
    figures.add(&batch, &targets);
    let generator = rate_per_s.map(|rate_per_s| Generator { rate_per_s, ..Generator::default() });
    let generator = generator.as_ref();
    figures.outcomes(&JudgedRun {
        summary: &summary,
        is_part: false,
        generator,
        has_service_times,
        asserted: &[],
    })
}

#[test]
fn a_gate_is_crossed_exactly_where_its_expression_is_true() {
    use GateState::{Crossed, Passed};
    let cases = [
        ("p50>40ms", Crossed),
        ("p50>70ms", Passed),
        ("p50<70ms", Crossed),
        ("p50{name:fast}>55ms", Passed),
        ("p50{name:slow}>900ms", Crossed),
        ("p50{target:\"GET http://h/slow\"}>900ms", Crossed),
        ("p50{method:GET,name:slow}>900ms", Crossed),
        ("service.p50{name:slow}<600ms", Crossed),
        ("max{status:503}<101ms", Crossed),
        ("min{name:slow}<1s", Passed),
        ("mean{name:slow}>1101ms", Passed),
        ("errors>10%", Passed),
        ("errors>9.9%", Crossed),
        ("errors>=10%", Crossed),
        ("errors>10", Crossed),
        ("errors>11", Passed),
        ("errors{name:slow}>10%", Passed),
        ("errors{status:5xx}>9%", Crossed),
        ("errors{status:5xx}>9.1%", Passed),
        ("errors{status:5xx,name:slow}>0", Passed),
        ("success<90%", Passed),
        ("success<91%", Crossed),
        ("status.5xx>9", Crossed),
        ("status.503>10", Passed),
        ("status.504>0", Passed),
        ("requests<111", Crossed),
        ("requests{name:slow}<10", Passed),
        ("bytes{name:fast}<11", Crossed),
        ("rate<10", Passed),
        ("rate>10.8", Crossed),
        ("rate<110%", Crossed),
        ("rate<100%", Passed),
    ];
    for (text, state) in cases {
        let outcome = &figures(text)[0];
        assert_eq!(outcome.state, state, "{text}: {outcome:?}");
        assert!(outcome.value.is_some(), "{text}");
    }
}

#[test]
fn a_gate_without_its_data_is_undecided_and_never_passed() {
    let cases = [
        ("p99{name:other}>1s", Gap::NoRequest),
        ("errors{name:other}>0", Gap::NoRequest),
        ("p99{status:404}>1s", Gap::NoRequest),
        ("p99{method:POST}>1s", Gap::NoRequest),
        ("p99{scenario:buyers}>1s", Gap::NoTag),
        ("errors{page:a}>0", Gap::NoTag),
        ("thresholds>0", Gap::NoThreshold),
        ("checks<100%", Gap::NoCheck),
        ("bytes{name:other}<1", Gap::NoRequest),
        ("service.p99>1s", Gap::NoService),
        ("rate<95%", Gap::NoPlannedRate),
    ];
    for (text, gap) in cases {
        let outcome = &judged(text, None, false)[0];
        assert_eq!(outcome.state, GateState::Undecided(gap), "{text}");
        assert_eq!(outcome.value, None, "{text}");
    }
    let closed = &judged("rate<95%", Some(0.0), true)[0];
    assert_eq!(closed.state, GateState::Undecided(Gap::NoPlannedRate));
    let none = GateFigures::new(gates("p99>1s, errors>0, rate<5, requests<1"));
    let summary = Summary::new();
    let run = JudgedRun {
        summary: &summary,
        is_part: false,
        generator: None,
        has_service_times: true,
        asserted: &[],
    };
    let states: Vec<GateState> = none.outcomes(&run).iter().map(|outcome| outcome.state).collect();
    let undecided = GateState::Undecided(Gap::NoRequest);
    assert_eq!(states, [undecided, undecided, undecided, GateState::Crossed]);
}

#[test]
fn a_percentile_among_timeouts_decides_only_what_its_bound_decides() {
    let timed_out = GateState::Undecided(Gap::TimedOut);
    let cases = [
        ("p99{name:slow}>900ms", GateState::Crossed),
        ("p99{name:slow}>3s", timed_out),
        ("p99{name:slow}<3s", timed_out),
        ("p99{name:slow}<500ms", GateState::Passed),
        ("max>3s", timed_out),
        ("p50{name:fast}>3s", GateState::Passed),
    ];
    for (text, state) in cases {
        assert_eq!(figures(text)[0].state, state, "{text}");
    }
}

#[test]
fn gates_say_what_they_need_of_a_plan() {
    let read = gates("p99{name:login}>1s, rate<95%");
    assert_eq!(read.of_planned_rate().map(|gate| gate.expression.as_str()), Some("rate<95%"));
    assert!(gates("rate<95").of_planned_rate().is_none());
    let (gate, name) = read.of_other_name(|name| name == "home").unwrap();
    assert_eq!((gate.expression.as_str(), name), ("p99{name:login}>1s", "login"));
    assert!(read.of_other_name(|name| name == "login").is_none());
}

/// Regression: the gate `p99.9` was one rank too high at every multiple of 1,000 requests.
#[test]
fn a_gate_has_the_figure_that_the_report_prints() {
    let percents = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
    let text = percents.map(|percent| format!("p{percent}>1h")).join(",");
    let objective = percents.map(|percent| format!("p{percent}<1h")).join(",");
    let (figures, objective) =
        (GateFigures::new(gates(&text)), objective.parse::<crate::Objective>().unwrap());
    let mut summary = Summary::new();
    for count in 1..=6000_u64 {
        summary.add_sample(
            0,
            &Sample { done: Nanos(count), outcome: Outcome::Http(200), ..Sample::default() },
        );
        if count > 200 && !count.is_multiple_of(100) {
            continue;
        }
        let run = JudgedRun {
            summary: &summary,
            is_part: false,
            generator: None,
            has_service_times: true,
            asserted: &[],
        };
        let printed = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999].map(|q| summary.response.quantile(q));
        for (at, outcome) in figures.outcomes(&run).iter().enumerate() {
            let printed = printed[at].0 as f64;
            assert_eq!(outcome.value, Some(printed), "{} of {count}", outcome.expression);
            assert_eq!(objective.conditions()[at].measure(&summary), printed, "{count}");
        }
    }
}

/// A hundred requests of 100 ms, of which the generator began the last ten 400 ms late.
fn late_run() -> (Summary, Generator) {
    let mut summary = Summary::new();
    let mut generator = Generator { rate_per_s: 10.0, planned: 100, sent: 100, ..Generator::new() };
    for n in 0..100 {
        let intended = Nanos::from_millis(100 * n);
        let sent = intended + Nanos::from_millis(if n >= 90 { 400 } else { 0 });
        let done = sent + Nanos::from_millis(100);
        summary.add_sample(
            0,
            &Sample { intended, sent, done, outcome: Outcome::Http(200), ..Sample::default() },
        );
        generator.on_time.record(Nanos::from_millis(100));
    }
    (summary, generator)
}

fn states_of(text: &str, run: &JudgedRun<'_>) -> Vec<GateState> {
    let figures = GateFigures::new(gates(text));
    figures.outcomes(run).into_iter().map(|outcome| outcome.state).collect()
}

fn judged_run<'a>(summary: &'a Summary, generator: &'a Generator) -> JudgedRun<'a> {
    JudgedRun {
        summary,
        is_part: false,
        generator: Some(generator),
        has_service_times: true,
        asserted: &[],
    }
}

#[test]
fn a_figure_that_the_generator_raised_crosses_no_gate() {
    use GateState::{Crossed, Passed};
    let (summary, generator) = late_run();
    let run = judged_run(&summary, &generator);
    let late = |ms: f64| GateState::Undecided(Gap::Late { on_time: ms * 1e6 });
    let cases = [
        ("max>300ms", late(100.0)),
        ("p99.9>300ms", late(100.0)),
        ("mean>120ms", late(100.0)),
        // Lag only adds: what holds with it holds.
        ("max>600ms", Passed),
        ("p50>150ms", Passed),
        // It is crossed without the lag too.
        ("max>90ms", Crossed),
        // A floor holds by the lag alone.
        ("max<300ms", late(100.0)),
        ("min<200ms", Crossed),
        // Of the service times and of a part nothing is known.
        ("service.max>50ms", Crossed),
        ("max{method:GET}>300ms", GateState::Undecided(Gap::NoRequest)),
        ("max{status:200}>90ms", Crossed),
    ];
    for (text, state) in cases {
        let mut figures = GateFigures::new(gates(text));
        let sample = Sample {
            done: Nanos::from_millis(500),
            outcome: Outcome::Http(200),
            ..Sample::default()
        };
        let batch = Batch { samples: vec![sample], ..Batch::default() };
        figures.add(&batch, &TargetTable::default());
        assert_eq!(figures.outcomes(&run)[0].state, state, "{text}");
    }
    assert_eq!(states_of("max>300ms", &JudgedRun { is_part: true, ..run }), [Crossed]);
    let unknown = Generator { on_time: crate::Sketch::new(), ..generator.clone() };
    assert_eq!(states_of("max>300ms", &judged_run(&summary, &unknown)), [Crossed]);
}

#[test]
fn a_closed_loop_that_stood_still_crosses_no_rate() {
    let (summary, mut generator) = late_run();
    // Two users lost 4 s of 20: ten answers were read 400 ms late.
    (generator.users, generator.rate_per_s) = (2, 0.0);
    let run = judged_run(&summary, &generator);
    let state = states_of("rate<11", &run)[0];
    let GateState::Undecided(Gap::Late { on_time }) = state else { panic!("{state:?}") };
    assert!((11.5..13.0).contains(&on_time), "{on_time}");
    assert_eq!(states_of("rate<9, rate<20", &run), [GateState::Passed, GateState::Crossed]);
}

#[test]
fn no_gate_passes_where_requests_were_not_sent() {
    use GateState::{Crossed, Passed};
    let (summary, generator) = late_run();
    let with = |planned: u64, held: u64| {
        let not_sent = planned - 100;
        Generator { planned, not_sent, held, ..generator.clone() }
    };
    let missing =
        |planned: u64| GateState::Undecided(Gap::NotSent { not_sent: planned - 100, planned });
    let gates = "p99>10s, errors>1%, requests<150, rate<90%, max>90ms";
    let states = |generator: &Generator| states_of(gates, &judged_run(&summary, generator));
    // One of 101 is let pass.
    assert_eq!(states(&with(101, 0))[..2], [Passed, Passed]);
    let all = [missing(200), missing(200), missing(200), missing(200), Crossed];
    assert_eq!(states(&with(200, 0)), all);
    // The server's slowness held them back: it is its rate.
    assert_eq!(states(&with(200, 1))[2..], [Crossed, missing(200), Crossed]);
    let run = with(200, 0);
    let part = JudgedRun { is_part: true, ..judged_run(&summary, &run) };
    assert_eq!(states_of("p99>10s", &part), [missing(200)]);
}

#[test]
fn no_gate_passes_where_iterations_were_not_begun() {
    use crate::tally::{Contains, Kind, MetricSummary};
    let (summary, generator) = late_run();
    let counter = |name: &str, scenario: &str, count: f64| {
        Assertion::Metric(MetricSummary {
            scenario: scenario.to_owned(),
            group: String::new(),
            metric: name.to_owned(),
            kind: Kind::Counter,
            contains: Contains::Default,
            statistics: vec![("count".to_owned(), count)],
            run: String::new(),
        })
    };
    let state = |dropped: f64, not_sent: u64| {
        let generator = Generator { self_paced: true, not_sent, ..generator.clone() };
        let asserted = [
            counter("dropped_iterations", "", dropped),
            counter("dropped_iterations", "buyers", dropped),
            counter("iterations", "", 100.0),
        ];
        let run = JudgedRun { asserted: &asserted, ..judged_run(&summary, &generator) };
        states_of("p99>10s", &run)[0]
    };
    assert_eq!(state(966.0, 966), GateState::Undecided(Gap::NotBegun { iterations: 966 }));
    assert_eq!(state(1.0, 1), GateState::Passed);
    assert_eq!(state(966.0, 0), GateState::Passed, "shared iterations that none had time for");
    let users = Generator { self_paced: true, planned: 130, not_sent: 30, ..generator.clone() };
    let states = states_of("p99>10s", &judged_run(&summary, &users));
    assert_eq!(states, [GateState::Undecided(Gap::NotBegun { iterations: 30 })]);
}

#[test]
fn issue_39_no_gate_passes_where_users_were_never_answered() {
    let (summary, generator) = late_run();
    let state = |never_answered: u64, interrupted: bool| {
        let generator = Generator {
            users: 200,
            sent: 1000,
            never_answered,
            interrupted,
            not_sent: 0,
            on_time: Default::default(),
            ..generator.clone()
        };
        states_of("p99>10s", &judged_run(&summary, &generator))[0]
    };
    let gap = Gap::NeverAnswered { users: 150, of: 200 };
    assert_eq!(state(150, false), GateState::Undecided(gap));
    assert_eq!(gap.to_string(), "150 of 200 users were never answered");
    assert_eq!(state(2, false), GateState::Passed, "one in a hundred");
    assert_eq!(state(150, true), GateState::Passed, "they may have been about to be");
}

#[test]
fn every_gap_has_a_name_of_its_own() {
    let late = Gap::Late { on_time: 7.0 };
    assert_eq!(Gap::named(late.name()), Some(Gap::Late { on_time: 0.0 }));
    assert_eq!(Gap::named(Gap::TimedOut.name()), Some(Gap::TimedOut));
    assert_eq!(Gap::named("later"), None);
    let unsent = Gap::NotSent { not_sent: 1301, planned: 2000 };
    assert_eq!(unsent.to_string(), "1301 of 2000 planned requests were not sent");
    assert!(unsent.is_of_generator() && !Gap::TimedOut.is_of_generator());
}
