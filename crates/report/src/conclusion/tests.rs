//! Tables of facts and the sentences drawn from them, and the error rates of the rule on overload.

use metrics::{Batch, FailureKind, Sample, Summary, Timeline};
use stdx::{Nanos, Prng};

use super::backlog::{Backlog, Trend};
use super::checks::Checks;
use super::class::Class;
use super::course::{Course, Third};
use super::elsewhere::Elsewhere;
use super::facts::{Facts, Offered};
use super::growth::MemoryGrowth;
use super::late::Late;
use super::limit::{Limit, limit};
use super::measurement::Measurement;
use super::onset::Onset;
use super::outcome::{Doubt, Outcome};
use super::pause::Pause;
use super::repeat::Repeat;
use super::sentence::Kind;
use super::servers::{Application, Cpu, Servers};
use super::spread::{Spread, Targets};
use super::waits::Waits;
use super::worked_off::WorkedOff;
use super::{Conclusion, SENTENCES_MAX};

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// A course of thirds with these medians.
fn course(duration: Nanos, requests: u64, p50_ms: [u64; 3]) -> Course {
    let third = |p50: u64| Third {
        length: Nanos(duration.0 / 3),
        requests: requests / 3,
        p50: ms(p50),
        p95: ms(2 * p50),
    };
    Course { thirds: p50_ms.map(third) }
}

/// 60/s for 30 s, each answered with success in 12 to 80 ms.
pub(super) fn steady() -> Facts {
    let duration = ms(29_983);
    Facts {
        offered: Offered::Rate(60.0),
        requests: 1800,
        successes: 1800,
        duration,
        elapsed: ms(30_000),
        times: [ms(12), ms(30), ms(80)],
        course: Some(course(duration, 1800, [12, 12, 12])),
        ..Facts::default()
    }
}

/// The server answers 51 of the 60 requests a second.
fn overloaded() -> Facts {
    Facts {
        elapsed: ms(35_294),
        times: [ms(2650), ms(5030), ms(5250)],
        course: Some(course(ms(29_983), 1800, [880, 2650, 4410])),
        ..steady()
    }
}

/// The load of a bench is that of the users that got through, and the first sentence says so.
#[test]
fn issue_39_users_that_were_never_answered_are_named() {
    let facts = Facts { offered: Offered::Users(20), never_answered: 15, ..steady() };
    let outcome = Outcome::of(&facts);
    assert_eq!(outcome, Outcome::ByUsers);
    assert_eq!(outcome.result(&facts), "answered 60/s, no errors, 15 of 20 users never answered");
    let conclusion = Conclusion::from_facts(&facts);
    assert_eq!(
        conclusion.first(),
        "20 users for 30s: 60/s answered; 15 of the users were never answered, so the load was that of the others."
    );
}

/// A Rails application on two cores; its requests wait before Puma takes them.
fn rails() -> Servers {
    Servers {
        application: Some(Application {
            name: "rails".to_owned(),
            client: ms(2650),
            own: ms(190),
            before: ms(2460),
            in_service: Some(9.7),
            threads: Some(10.0),
            database: Some(0.2),
            waits: None,
        }),
        cpu: Some(Cpu {
            cores: 2.0,
            busy: 1.74,
            watched: Some(1.04),
            busiest: Some(("puma".to_owned(), 0.52)),
            waiting: None,
        }),
        ..Servers::default()
    }
}

fn failing(facts: Facts, class: Class, count: u64, unanswered: u64) -> Facts {
    Facts { successes: facts.requests - count, unanswered, classes: vec![(class, count)], ..facts }
}

const REFUSED: Class = Class::Failure(FailureKind::Refused);
const TIMEOUT: Class = Class::Failure(FailureKind::Timeout);

/// The conclusion as text, with the server's line last.
fn text(facts: &Facts) -> String {
    let conclusion = Conclusion::from_facts(facts);
    assert!(conclusion.sentences.len() <= SENTENCES_MAX, "{conclusion:?}");
    conclusion.text() + &conclusion.server_line()
}

#[track_caller]
fn check(facts: &Facts, expected: &[&str]) {
    let text = text(facts);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, expected, "\n{text}");
}

const WATCH: &str = "watch the server to see what limits it (-watch -watch-port=PORT -watch-log=rails:FILE; `brunt watch` on \
                     another machine)";

#[test]
fn a_healthy_server_kept_up_and_the_limit_is_left_to_a_search() {
    check(
        &steady(),
        &[
            "60/s for 30s, all answered: the server kept up.",
            "Half of the requests took at most 12ms, 95 of 100 at most 30ms, 99 of 100 at most 80ms.",
            "How sure: one run with 1,800 requests in 30s; another may differ; `brunt study` shows by how much.",
            &format!("Next: find the highest rate that the server bears (`brunt seek`); {WATCH}."),
            "Server: kept up with 60/s, no errors",
        ],
    );
}

#[test]
fn a_healthy_nginx_with_its_cpu_is_not_called_a_bottleneck() {
    let cpu = Cpu {
        cores: 2.0,
        busy: 0.4,
        watched: Some(0.3),
        busiest: Some(("nginx".to_owned(), 0.2)),
        ..Cpu::default()
    };
    let servers = Some(Servers { cpu: Some(cpu), ..Servers::default() });
    let facts = Facts { servers, ..steady() };
    let text = text(&facts);
    let words = "Seen at the server, nothing at its limit: the CPU is 20% busy (0.3 of 2 cores by nginx).\n";
    assert!(text.contains(words) && !text.contains("Bottleneck"), "{text}");
}

/// The wish of WEAK_SPOTS: what was asked, what was answered, where requests wait, whose CPU it is.
#[test]
fn a_saturated_rails_has_its_queue_and_its_cpu_named() {
    check(
        &Facts { servers: Some(rails()), ..overloaded() },
        &[
            "60/s for 30s, 51/s answered: the server is overloaded.",
            "The median response time grew from 880ms in the run's first third to 4.41s in its last; half of the requests took at \
             most 2.65s, 95 of 100 at most 5.03s, 99 of 100 at most 5.25s.",
            "Bottleneck: the CPU. Requests wait 2.46s of 2.65s before rails starts on them, since its threads or workers are all \
             taken (9.7 requests in it at a time, room for 10); the CPU is 87% busy (1.04 of 2 cores by puma, 0.7 by other programs).",
            "How sure: one run with 1,800 requests in 35.3s; another may differ; `brunt study` shows by how much.",
            "Next: use less CPU per request, or more cores; then find the rate that it bears (`brunt seek`).",
            "Server: OVERLOADED, 51/s of 60/s answered, no errors",
        ],
    );
}

#[test]
fn an_overload_without_the_servers_side_says_what_to_add() {
    let text = text(&overloaded());
    assert!(!text.contains("Bottleneck"), "{text}");
    assert!(
        text.contains(&format!("Next: {WATCH}, and find the rate that it bears (`brunt seek`).")),
        "{text}"
    );
}

#[test]
fn a_backlog_that_brunts_own_limit_may_have_made_is_not_the_servers_alone() {
    let text = text(&Facts { is_held: true, ..overloaded() });
    assert!(
        text.contains("the server is overloaded, or -max-workers allows too few requests at once."),
        "{text}"
    );
}

#[test]
fn a_server_that_refuses_everything_is_failed_and_not_just_valid() {
    check(
        &failing(steady(), REFUSED, 1800, 1800),
        &[
            "60/s for 30s, nothing answered: all 1,800 requests had their connection refused.",
            "Next: check that the server runs, and the address and port.",
            "Server: FAILED, answered none of 1,800 requests",
        ],
    );
    let one = text(&failing(Facts { requests: 1, ..steady() }, REFUSED, 1, 1));
    assert!(
        one.starts_with("The request was not answered: it had its connection refused.\n"),
        "{one}"
    );
    let lost = text(&failing(steady(), Class::Failure(FailureKind::Dns), 1800, 1800));
    assert!(lost.contains("Next: check the host name"), "{lost}");
    let errors = failing(steady(), Class::Status(metrics::Outcome::Http(500)), 1800, 0);
    check(
        &errors,
        &[
            "60/s for 30s, no request succeeded: all 1,800 requests got status 500.",
            "Next: look at one answer before the next run (curl -i URL).",
            "Server: FAILED, 1,800 of 1,800 requests without success",
        ],
    );
    let one = text(&failing(
        Facts { requests: 1, ..steady() },
        Class::Status(metrics::Outcome::Http(500)),
        1,
        0,
    ));
    assert!(one.starts_with("The request did not succeed: it got status 500.\n"), "{one}");
    assert!(one.ends_with("Server: FAILED, 1 of 1 request without success\n"), "{one}");
}

#[test]
fn some_errors_are_counted_by_class() {
    let mut facts = failing(steady(), TIMEOUT, 34, 30);
    facts.classes = vec![(TIMEOUT, 30), (Class::Status(metrics::Outcome::Http(404)), 4)];
    let text = text(&facts);
    assert!(
        text.starts_with("60/s for 30s: the server kept up, but 1.9% of the requests failed.\n"),
        "{text}"
    );
    assert!(
        text.contains("34 of 1,800 requests (1.9%) failed: 30 timed out and 4 got status 404.\n"),
        "{text}"
    );
    assert!(text.ends_with("Server: kept up with 60/s, but 1.9% errors\n"), "{text}");
}

/// Each ninth request was read and its connection reset: all were answered, since it was sent again.
#[test]
fn requests_that_were_sent_twice_are_said() {
    let facts = Facts { sent_again: 214, ..steady() };
    let expected = "214 of 1,800 requests (12%) were sent twice, since the server closed the connection, which it had kept open, \
                    instead of answering; it may have worked on them the first time.";
    let text = text(&facts);
    assert!(text.contains(expected), "{text}");
    let first = "all answered, 12% of them only when brunt sent them again: the server kept up";
    assert!(text.contains(first), "{text}");
    assert!(Outcome::of(&facts).result(&facts).ends_with("12% sent twice"), "{text}");
    let few = self::text(&Facts { sent_again: 3, ..steady() });
    assert!(!few.contains("twice") && few.contains("all answered: the server"), "{few}");
}

#[test]
fn times_cut_off_by_timeouts_are_no_times() {
    let facts = failing(steady(), TIMEOUT, 900, 900);
    let facts = Facts { times: [ms(500); 3], timed_out_from: Some(ms(500)), ..facts };
    check(
        &facts,
        &[
            "60/s for 30s, 30/s answered with success: 50% of the requests time out after 500ms.",
            "900 of 1,800 requests (50%) failed: 900 timed out after 500ms.",
            "How sure: one run with 1,800 requests in 30s; another may differ; `brunt study` shows by how much.",
            &format!("Next: {WATCH}, and find the rate that it bears (`brunt seek`)."),
            "Server: TIMES OUT, 50% of the requests failed: 900 timed out after 500ms",
        ],
    );
}

#[test]
fn requests_that_are_turned_away_are_no_success_of_a_quick_server() {
    let text = text(&failing(steady(), Class::Status(metrics::Outcome::Http(503)), 720, 0));
    assert!(
        text.starts_with(
            "60/s for 30s, 36/s answered with success: the server turns 40% of the requests away.\n"
        ),
        "{text}"
    );
    let result = "Server: REJECTS, 40% of the requests failed: 720 got status 503\n";
    assert!(text.ends_with(result), "{text}");
}

#[test]
fn a_closed_loop_is_neither_overloaded_nor_keeping_up() {
    let facts = Facts { offered: Offered::Users(4), course: None, ..steady() };
    let whole = text(&facts);
    assert!(whole.starts_with("4 users for 30s: 60/s answered.\n"), "{whole}");
    assert!(whole.contains("users who wait for answers ask a slow server for less"), "{whole}");
    assert!(whole.ends_with("Server: answered 60/s, no errors\n"), "{whole}");
    let script = text(&Facts { offered: Offered::Script(13), ..facts });
    assert!(
        script.starts_with("A script with up to 13 users for 30s: 60/s answered.\n"),
        "{script}"
    );
}

#[test]
fn a_short_run_says_how_little_it_says() {
    let short = Facts {
        requests: 90,
        successes: 90,
        duration: ms(1483),
        elapsed: ms(1500),
        course: None,
        ..steady()
    };
    check(
        &short,
        &[
            "60/s for 1.5s, all answered: the server kept up.",
            "Half of the requests took at most 12ms.",
            "How sure: little, 90 requests in 1.5s; runs of a minute and 500 requests or more say more.",
            &format!("Next: find the highest rate that the server bears (`brunt seek`); {WATCH}."),
            "Server: kept up with 60/s, no errors",
        ],
    );
    let late = text(&Facts { elapsed: ms(2600), ..short });
    assert!(
        late.contains("the last 1.12s after it was due: this run does not tell whether"),
        "{late}"
    );
    assert!(late.contains("Server: not clear whether it keeps up with 60/s"), "{late}");
}

#[test]
fn an_invalid_measurement_says_nothing_of_the_server() {
    let facts = Facts {
        measurement: Measurement::Invalid,
        remedy: Some("use another machine"),
        servers: Some(rails()),
        ..overloaded()
    };
    check(
        &facts,
        &[
            "Do not judge the server by this run: the measurement is INVALID, for the reasons that stand with the verdict.",
            "60/s for 30s: 51/s answered.",
            "Next: use another machine.",
            "Server: not judged, since the measurement is INVALID",
        ],
    );
}

/// What lateness cannot change stands first; figures that it raised are left out.
#[test]
fn a_late_generator_takes_nothing_from_a_level_backlog() {
    let doubts =
        vec!["late starts raised p99 from 40ms to 80ms; p50, p90 and p95 are good".to_owned()];
    let level = Backlog { trend: Trend::Level, is_answered: true, ..Backlog::default() };
    let late = Facts {
        measurement: Measurement::Late,
        doubts,
        raised: [false, false, true],
        lag_max: ms(50),
        backlog: Some(level),
        ..steady()
    };
    check(
        &late,
        &[
            "60/s for 30s, all answered: the server kept up.",
            "Not all figures are good: late starts raised p99 from 40ms to 80ms; p50, p90 and p95 are good; counts, \
             statuses and the server's result can be relied on.",
            "Half of the requests took at most 12ms, 95 of 100 at most 30ms.",
            &format!("Next: find the highest rate that the server bears (`brunt seek`); {WATCH}."),
            "Server: kept up with 60/s, no errors",
        ],
    );
    let grown = |delay| Backlog { trend: Trend::Growing, growth: 0.15, delay, ..level };
    let outcome = |delay| Outcome::of(&Facts { backlog: Some(grown(delay)), ..late.clone() });
    assert_eq!(outcome(4.0), Outcome::Overloaded, "80 times what the generator was late");
    assert_eq!(outcome(0.1), Outcome::Unjudged, "the generator's own lateness may be half of it");
    let dead = failing(Facts { measurement: Measurement::Invalid, ..late }, REFUSED, 1800, 1800);
    let dead = text(&dead);
    assert!(dead.starts_with("60/s for 30s, nothing answered"), "{dead}");
}

#[test]
fn a_growing_backlog_says_by_how_much_and_since_when() {
    let growing = Backlog { trend: Trend::Growing, growth: 0.15, ..Backlog::default() };
    let since = |backlog| text(&Facts { backlog: Some(backlog), ..overloaded() });
    let whole = since(growing);
    let first = "60/s for 30s, 51/s answered: the server is overloaded and falls behind by 9/s.\n";
    assert!(whole.starts_with(first), "{whole}");
    let onset = Some(Onset { at: ms(12_000), answered: 50.0, asked: 52.0 });
    let later = since(Backlog { onset, ..growing });
    let words = ": the server is overloaded from 12s on: since then it answers about 50/s, 10/s less than asked.\n";
    assert!(later.contains(words), "{later}");
    let ramp = since(Backlog { onset, loads: Some([10.0, 110.0]), ..growing });
    let first = "About 10/s to 110/s for 30s: the server answers about 50/s at most; its backlog grows from 12s on, when about \
                 52/s were asked.\n";
    assert!(ramp.starts_with(first), "{ramp}");
    assert!(
        ramp.ends_with("Server: OVERLOADED, answers about 50/s at most, no errors\n"),
        "{ramp}"
    );
}

#[test]
fn requests_at_one_moment_are_no_rate_to_keep_up_with() {
    for requests in [1, 3] {
        let load = Facts { requests, successes: requests, duration: Nanos::ZERO, ..steady() };
        let text = text(&Facts { course: None, elapsed: ms(12), ..load });
        assert!(text.contains(" at one moment, all answered: this run does not tell"), "{text}");
        assert!(!text.contains("kept up"), "{text}");
    }
}

#[test]
fn what_is_not_sure_is_said_with_its_figures() {
    let level = Backlog { is_answered: true, ..Backlog::default() };
    let unclear = Backlog { waiting: [3.2, 7.0], ..level };
    let whole = text(&Facts { backlog: Some(unclear), ..steady() });
    let words = "3.2 waited for an answer at a time in the run's first third and 7 in its last";
    assert!(whole.contains(words), "{whole}");
    let level = Backlog { trend: Trend::Level, ..level };
    let whole = text(&Facts { backlog: Some(level), ..overloaded() });
    assert!(whole.contains("the 95th percentile grew from 1.76s to 8.82s"), "{whole}");
}

#[test]
fn failures_of_several_kinds_are_not_called_by_one_of_them() {
    let mut facts = failing(steady(), TIMEOUT, 92, 47);
    facts.classes = vec![(TIMEOUT, 47), (Class::Status(metrics::Outcome::Http(500)), 45)];
    assert_eq!(Outcome::of(&facts), Outcome::Failing);
    facts.classes = vec![
        (TIMEOUT, 300),
        (Class::Status(metrics::Outcome::Http(503)), 290),
        (Class::Status(metrics::Outcome::Http(500)), 10),
    ];
    assert_eq!(Outcome::of(&facts), Outcome::TimedOut);
    let late = Facts { measurement: Measurement::Late, ..facts };
    assert_eq!(Outcome::of(&late), Outcome::TurnedAway, "lateness makes timeouts alone");
}

#[test]
fn a_pause_is_said_with_its_length_and_moment() {
    let pause = Some(Pause { at: ms(7000), length: ms(6000), ..Pause::default() });
    let level = Backlog { trend: Trend::Level, is_answered: true, pause, ..Backlog::default() };
    let text = self::text(&Facts { backlog: Some(level), ..steady() });
    let first = "60/s for 30s, all answered: the server answered nothing for 6s, from 7s to 13s; it kept up before and after.\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.ends_with("Server: PAUSED for 6s at 60/s, no errors\n"), "{text}");
    let hangs = Backlog { trend: Trend::Growing, growth: 0.97, ..level };
    let whole = self::text(&Facts { backlog: Some(hangs), ..steady() });
    assert!(whole.contains("nothing from 7s on, until the last request was due.\n"), "{whole}");
    let own = Facts { backlog: Some(level), lag_max: ms(5800), ..steady() };
    assert_eq!(Outcome::of(&own), Outcome::KeptUp, "the generator stood still, and not the server");
    let late = Facts { measurement: Measurement::Late, ..own };
    assert_eq!(Outcome::of(&late), Outcome::Unjudged);
}

#[test]
fn failures_of_every_kind_are_named_and_never_green() {
    for (class, words) in [
        (Class::Status(metrics::Outcome::Http(504)), "1,743 got status 504"),
        (Class::Status(metrics::Outcome::Http(500)), "1,743 got status 500"),
        (Class::Failure(FailureKind::Reset), "1,743 had their connection reset"),
    ] {
        for measurement in [Measurement::Valid, Measurement::Late, Measurement::Invalid] {
            let facts = Facts { measurement, ..failing(steady(), class, 1743, 0) };
            let text = text(&facts);
            let first = "60/s for 30s, 1.9/s answered with success: 96.8% of the requests fail.\n";
            assert!(text.starts_with(first), "{text}");
            assert!(text.contains(words), "{text}");
            assert_eq!(Outcome::of(&facts).class(), "bad");
        }
    }
}

#[test]
fn a_format_without_the_generator_says_sent_and_not_asked() {
    let facts = Facts { offered: Offered::Unknown, measurement: Measurement::Blind, ..steady() };
    let text = text(&facts);
    assert!(text.starts_with("60/s sent for 30s, all answered: the server kept up.\n"), "{text}");
    assert!(
        text.contains("no record of the load generator, which may have been the slow part"),
        "{text}"
    );
}

#[test]
fn no_requests_are_no_conclusion() {
    check(
        &Facts::default(),
        &[
            "There were no requests, so nothing can be said of the server.",
            "Server: not tested, there were no requests",
        ],
    );
}

/// With errors, the server's side and little to go by there is more to say than fits.
#[test]
fn five_sentences_at_most_and_the_advice_among_them() {
    let facts = failing(overloaded(), Class::Status(metrics::Outcome::Http(500)), 80, 0);
    let facts = Facts { servers: Some(rails()), ..facts };
    let kinds = |facts: &Facts| -> Vec<Kind> {
        Conclusion::from_facts(facts).sentences.iter().map(|one| one.kind).collect()
    };
    let sure = [Kind::Saturation, Kind::Errors, Kind::Latency, Kind::Bottleneck, Kind::Advice];
    assert_eq!(kinds(&facts), sure);
    let little = [Kind::Saturation, Kind::Errors, Kind::Bottleneck, Kind::Confidence, Kind::Advice];
    assert_eq!(kinds(&Facts { is_interrupted: true, ..facts }), little);
}

/// The use of four cores: by all, by what was watched, and by one process of Ruby.
fn cpu(busy: f64, watched: f64, one: f64) -> Cpu {
    Cpu {
        cores: 4.0,
        busy,
        watched: Some(watched),
        busiest: Some(("ruby".to_owned(), one)),
        waiting: None,
    }
}

fn with_cpu(cpu: Cpu) -> Servers {
    Servers { cpu: Some(cpu), ..rails() }
}

/// A query whose work is done in the process, and a Puma of one thread.
#[test]
fn issue_40_what_a_full_core_and_a_single_thread_do_is_named() {
    let mut in_process = with_cpu(cpu(1.2, 1.1, 0.99));
    if let Some(application) = &mut in_process.application {
        application.database = Some(0.93);
    }
    assert_eq!(limit(&in_process, true), Some(Limit::OneCore));
    let found = text(&Facts { servers: Some(in_process), ..overloaded() });
    assert!(found.contains("the database takes 93% of the application's time"), "{found}");
    assert!(found.contains("Next: look at the queries (an index)"), "{found}");
    let single = || {
        let mut servers = with_cpu(cpu(1.0, 0.8, 0.4));
        if let Some(application) = &mut servers.application {
            (application.threads, application.in_service) = (None, Some(0.9));
        }
        servers
    };
    for (accept_queue, expected) in [(None, Limit::Queue), (Some(40.0), Limit::Workers)] {
        let servers = Servers { accept_queue, ..single() };
        assert_eq!(limit(&servers, true), Some(expected), "Puma's only thread, {accept_queue:?}");
    }
}

#[test]
fn the_surest_limit_is_named() {
    let idle = || with_cpu(cpu(1.0, 0.8, 0.4));
    let without_log = || Servers { application: None, ..idle() };
    let cases = [
        (with_cpu(cpu(3.9, 3.5, 0.9)), Some(Limit::Cpu)),
        (with_cpu(cpu(3.9, 0.5, 0.4)), Some(Limit::CpuOfOthers)),
        (with_cpu(Cpu { waiting: Some(0.3), ..cpu(3.9, 0.5, 0.4) }), Some(Limit::CpuOfOthers)),
        (with_cpu(Cpu { waiting: Some(0.01), ..cpu(3.9, 0.5, 0.4) }), Some(Limit::Workers)),
        (with_cpu(cpu(1.2, 1.1, 0.99)), Some(Limit::OneCore)),
        (idle(), Some(Limit::Workers)),
        (Servers { throttled: 0.3, ..idle() }, Some(Limit::Quota)),
        (Servers { listen_drops: 2.0, disk: 0.5, ..idle() }, Some(Limit::Workers)),
        (Servers { listen_drops: 2.0, ..without_log() }, Some(Limit::ListenQueue)),
        (Servers { stolen: 0.2, ..idle() }, Some(Limit::Stolen)),
        (Servers { disk: 0.5, ..without_log() }, Some(Limit::Disk)),
        (Servers { accept_queue: Some(9.0), disk: 0.5, ..without_log() }, Some(Limit::Workers)),
        (Servers { accept_queue: Some(0.2), ..without_log() }, None),
        (Servers { memory: 0.3, ..idle() }, Some(Limit::Memory)),
        (Servers::default(), None),
    ];
    for (servers, expected) in cases {
        assert_eq!(limit(&servers, true), expected, "{servers:?}");
        let facts = Facts { servers: Some(servers), ..overloaded() };
        let text = text(&facts);
        let lead = match expected {
            None => "",
            Some(Limit::CpuOfOthers) => "\nPerhaps the bottleneck: ",
            Some(_) => "\nBottleneck: ",
        };
        assert!(text.contains(lead), "{text}");
    }
    let mut slow = idle();
    if let Some(application) = &mut slow.application {
        application.database = Some(0.7);
    }
    assert_eq!(limit(&slow, true), Some(Limit::Database));
    let text = text(&Facts { servers: Some(slow), ..overloaded() });
    assert!(text.contains("the database takes 70% of the application's time"), "{text}");
    let mut held_up = idle();
    if let Some(application) = &mut held_up.application {
        application.in_service = Some(0.3);
    }
    assert_eq!(limit(&held_up, true), Some(Limit::Queue));
    let held_up = self::text(&Facts { servers: Some(held_up), ..overloaded() });
    assert!(
        held_up.contains("starts on them (0.3 requests in it at a time, room for 10); the CPU"),
        "{held_up}"
    );
    assert!(!held_up.contains("all taken"), "0.3 requests take no worker: {held_up}");
    let mut kept = idle();
    kept.accept_queue = Some(20.0);
    if let Some(application) = &mut kept.application {
        application.in_service = Some(0.3);
    }
    assert_eq!(limit(&kept, true), Some(Limit::Queue));
    let kept = self::text(&Facts { servers: Some(kept), ..overloaded() });
    assert!(kept.contains("20 connections at a time wait until ruby accepts them"), "{kept}");
    assert!(kept.contains("try more threads") && !kept.contains("all taken"), "{kept}");
    assert_eq!(limit(&idle(), false), None, "a queue alone is no limit of a server that keeps up");
}

/// A Puma of 35/s on its one core was asked for 48/s for 8 s: "this run does not tell", since all requests took long alike.
#[test]
fn issue_40_what_waits_for_a_core_that_is_used_up_does_not_hang() {
    let steady = Backlog { trend: Trend::Steady, growth: 0.3, ..Backlog::default() };
    let core = |used| Servers {
        cpu: Some(Cpu {
            cores: 2.0,
            busy: 1.1,
            watched: Some(used),
            busiest: Some(("puma".to_owned(), used)),
            waiting: None,
        }),
        ..Servers::default()
    };
    assert_eq!(steady.beside(Some(&core(0.99))).trend, Trend::Growing);
    assert_eq!(steady.beside(Some(&core(0.3))).trend, Trend::Steady);
    assert_eq!(steady.beside(None).trend, Trend::Steady);
}

/// "Nothing that was watched is at its limit. Next: watch more of the server (its processes with -watch-port …)", of a server whose
/// port was watched, and nothing else.
#[test]
fn issue_40_a_server_that_accepts_nothing_is_named_without_its_log() {
    let cpu = Cpu {
        cores: 2.0,
        busy: 0.2,
        watched: Some(0.15),
        busiest: Some(("puma".to_owned(), 0.15)),
        waiting: None,
    };
    let watched = |accept_queue| {
        let servers = Servers { cpu: Some(cpu.clone()), accept_queue, ..Servers::default() };
        text(&Facts { servers: Some(servers), ..overloaded() })
    };
    let full = watched(Some(14.2));
    assert!(
        full.contains(
            "Bottleneck: the threads or workers of puma. 14.2 connections at a time wait until puma accepts them; the CPU is 10% \
             busy (0.15 of 2 cores by puma)."
        ),
        "{full}"
    );
    assert!(full.contains("Next: see what its threads or workers wait for"), "{full}");
    let free = watched(Some(0.0));
    assert!(free.contains("Nothing that was watched is at its limit"), "{free}");
    assert!(free.contains("-watch-log=rails:FILE") && free.contains("a proxy"), "{free}");
    assert!(!free.contains("-watch-port"), "it is watched: {free}");
}

#[test]
fn commands_are_code_in_a_page() {
    let mut page = String::new();
    Conclusion::from_facts(&steady()).html(&mut page);
    assert!(page.contains("(<code>brunt seek</code>)") && !page.contains('`'), "{page}");
}

/// An overloaded server had nothing to do in the last half of the run, in which requests only ran into their timeouts.
#[test]
fn what_an_overloaded_server_answers_is_counted_while_requests_are_due() {
    let facts = failing(steady(), TIMEOUT, 900, 900);
    let facts = Facts { succeeded_meanwhile_per_s: Some(52.0), ..facts };
    assert!(text(&facts).starts_with("60/s for 30s, 52/s answered with success: 50%"));
    let kept_up = text(&Facts { succeeded_meanwhile_per_s: Some(59.0), ..steady() });
    assert!(kept_up.contains("60/s for 30s, all answered"), "{kept_up}");
}

#[test]
fn a_plan_is_as_long_as_it_was_asked_for() {
    let facts = Facts { planned: Some(ms(50_000)), is_held: true, ..overloaded() };
    assert!(text(&facts).contains("/s for 50s, "), "{}", text(&facts));
}

/// The kernel counts dropped connections for the whole machine.
#[test]
fn connections_of_others_that_were_dropped_are_not_the_servers() {
    let servers = Servers { listen_drops: 3.0, ..Servers::default() };
    let drops = |sample: Sample| {
        let mut summary = Summary::default();
        summary.add(&Batch { epoch: 0, samples: vec![sample], texts: Vec::new() });
        servers.clone().without_others_drops(&summary).listen_drops
    };
    let quick = Sample { outcome: metrics::Outcome::Http(200), done: ms(900), ..Sample::default() };
    assert_eq!(drops(quick), 0.0);
    assert_eq!(drops(Sample { done: ms(1100), ..quick }), 3.0);
    assert_eq!(
        drops(Sample { outcome: metrics::Outcome::None, failure: FailureKind::Reset, ..quick }),
        3.0
    );
}

#[test]
fn json_has_kind_text_and_figures() {
    let facts = Facts { servers: Some(rails()), ..overloaded() };
    let conclusion = Conclusion::from_facts(&facts);
    let json: serde_json::Value = serde_json::from_str(&conclusion.json()).unwrap();
    assert_eq!(json[0]["kind"], "saturation");
    assert_eq!(json[0]["figures"]["asked_per_s"], 60.0);
    assert_eq!(json[2]["kind"], "bottleneck");
    assert_eq!(json[2]["figures"]["before_server"], 2.46e9);
    assert_eq!(conclusion.outcome_name(), "overloaded");
}

#[test]
fn texts_of_others_are_escaped_for_their_place() {
    let mut servers = rails();
    if let Some(cpu) = &mut servers.cpu {
        cpu.busiest = Some(("<b>\u{1b}[31m|x".to_owned(), 0.5));
    }
    let conclusion = Conclusion::from_facts(&Facts { servers: Some(servers), ..overloaded() });
    let mut page = String::new();
    conclusion.html(&mut page);
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>\u{1b}"), "{page}");
    assert!(!conclusion.text().contains('\u{1b}') && !conclusion.markdown().contains("<b>"));
}

/// Requests at random (`rate` a second) to six workers that take 60 ms on average, at random; the capacity is 100/s.
fn simulated(rate: f64, seconds: f64, seed: u64) -> Facts {
    let mut rng = Prng::new(seed);
    let mut free_at = [0.0f64; 6];
    let (mut at, mut batch) = (0.0, Batch::default());
    loop {
        at += rng.exponential() / rate;
        if at > seconds {
            break;
        }
        let worker = (0..6).min_by(|a, b| free_at[*a].total_cmp(&free_at[*b])).unwrap();
        let done = free_at[worker].max(at) + rng.exponential() * 0.06;
        free_at[worker] = done;
        let [intended, done] = [at, done].map(Nanos::from_secs_f64);
        batch.samples.push(Sample {
            intended,
            sent: intended,
            done,
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        });
    }
    let mut timeline = Timeline::new();
    timeline.add(&batch);
    let last = batch.samples.iter().map(|one| one.done).max().unwrap();
    let (first, due) = (batch.samples[0].intended, batch.samples.last().unwrap().intended);
    let duration = due - first;
    Facts {
        offered: Offered::Rate(rate),
        requests: batch.samples.len() as u64,
        successes: batch.samples.len() as u64,
        duration,
        elapsed: last - first,
        course: Course::of(&timeline, (first.0.cast_signed(), due.0.cast_signed())),
        ..Facts::default()
    }
}

/// The table of docs/design/conclusions.md: how often 200 runs of 30 s at a load are called overloaded.
#[test]
fn overload_is_found_and_not_invented() {
    let overloaded = |rate: f64, seconds: f64| {
        let runs = (0..200).map(|seed| simulated(rate, seconds, 1000 + seed));
        runs.filter(|facts| Outcome::of(facts) == Outcome::Overloaded).count()
    };
    for (rate, seconds, least, most) in [
        (50.0, 30.0, 0, 0),
        (80.0, 30.0, 0, 4),
        (90.0, 30.0, 0, 20),
        (120.0, 30.0, 196, 200),
        (200.0, 10.0, 200, 200),
        (80.0, 10.0, 0, 10),
    ] {
        let found = overloaded(rate, seconds);
        if std::env::var_os("BRUNT_SHOW").is_some() {
            println!("{rate}/s for {seconds}s: {found} of 200");
        }
        assert!((least..=most).contains(&found), "{rate}/s for {seconds}s: {found} of 200");
    }
}

#[test]
fn what_the_user_ended_is_not_the_servers_failure() {
    let stopped = Class::Failure(FailureKind::Stopped);
    let none =
        Facts { offered: Offered::Rate(5.0), requests: 10, ..failing(steady(), stopped, 0, 0) };
    let none = Facts { successes: 0, unanswered: 10, classes: vec![(stopped, 10)], ..none };
    assert_eq!(Outcome::of(&none), Outcome::Untested);
    let text_of_none = text(&none);
    assert!(text_of_none.contains("all were under way at the end"), "{text_of_none}");
    assert!(
        text_of_none.ends_with("Server: not tested, no request came to its end\n"),
        "{text_of_none}"
    );
    let error = Class::Status(metrics::Outcome::Http(500));
    let some = Facts { successes: 800, classes: vec![(stopped, 820), (error, 180)], ..steady() };
    let some = text(&some);
    assert!(some.contains(" answered with success: 10% of the requests fail.\n"), "{some}");
    assert!(
        some.ends_with("Server: FAILS, 10% of the requests failed: 180 got status 500\n"),
        "{some}"
    );
}

#[test]
fn several_runs_are_not_judged_as_one() {
    let facts = Facts { has_gaps: true, course: None, ..steady() };
    assert_eq!(Outcome::of(&facts), Outcome::Unclear(Doubt::Several));
}

/// 50/s for 10 min of a server that takes 0.9 % longer for each than it has: a backlog that grows too slowly for its slope.
#[test]
fn a_slow_rise_is_no_keeping_up() {
    let level = Backlog { trend: Trend::Level, is_answered: true, ..Backlog::default() };
    let with = |p50: [u64; 3]| {
        let course = Some(course(ms(600_000), 30_000, p50));
        Outcome::of(&Facts { backlog: Some(level), course, ..steady() })
    };
    assert_eq!(with([900, 2_700, 4_500]), Outcome::Unclear(Doubt::Times));
    assert_eq!(with([20, 60, 100]), Outcome::KeptUp, "no rise that is felt");
    assert_eq!(with([4_000, 4_500, 5_200]), Outcome::KeptUp);
}

#[test]
fn as_many_under_way_all_the_time_are_users() {
    let level = Backlog { trend: Trend::Level, is_answered: true, ..Backlog::default() };
    let of = |is_constant| Facts {
        offered: Offered::Unknown,
        measurement: Measurement::Blind,
        backlog: Some(Backlog { is_constant, ..level }),
        ..steady()
    };
    assert_eq!(Outcome::of(&of(true)), Outcome::ByUsers);
    assert_eq!(Outcome::of(&of(false)), Outcome::KeptUp);
}

/// A Puma of five threads on two cores, with what its requests wait for.
fn puma(in_service: f64, threads: Option<f64>, waits: Waits) -> Servers {
    let cpu = Cpu { cores: 2.0, busy: 0.9, watched: Some(0.3), ..rails().cpu.unwrap() };
    let application = rails().application.map(|one| Application {
        own: waits.own,
        in_service: Some(in_service),
        threads,
        waits: Some(waits),
        ..one
    });
    Servers { application, cpu: Some(cpu), ..Servers::default() }
}

/// 247 of 256 ms are neither view, database nor CPU.
fn waits(quickest: Nanos) -> Waits {
    let (own, other) = (ms(256), ms(247));
    Waits { own, other, quickest, knows_database: true, knows_cores: true }
}

/// The limit and the sentences of a saturated server.
#[track_caller]
fn check_limit(servers: Servers, expected: Limit, has: &[&str]) {
    assert_eq!(limit(&servers, true), Some(expected), "{servers:?}");
    let text = text(&Facts { servers: Some(servers), ..overloaded() });
    for words in has {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let is_workers = expected == Limit::Workers;
    assert_eq!(text.contains("more workers or threads"), is_workers, "{text}");
}

#[test]
fn a_lock_or_a_pool_is_no_want_of_threads() {
    let words = [
        "\nBottleneck: something that requests wait for inside rails. Inside rails requests wait 247ms of 256ms for something that \
         is neither view, database nor CPU, and the quickest took 55ms; requests wait ",
        "\nNext: look for what requests wait for inside the application: a lock, a connection pool",
    ];
    check_limit(puma(4.9, Some(5.0), waits(ms(55))), Limit::Inside, &words);
    // Neither is it the CPU, which others use.
    let mut busy = puma(4.9, Some(5.0), waits(ms(55)));
    if let Some(cpu) = &mut busy.cpu {
        cpu.busy = 2.0;
    }
    check_limit(busy.clone(), Limit::Inside, &words);
    // The wait for a core may be part of it where that is not known.
    if let Some(waits) = busy.application.as_mut().and_then(|one| one.waits.as_mut()) {
        waits.knows_cores = false;
    }
    check_limit(busy, Limit::CpuOfOthers, &["end the other programs"]);
}

#[test]
fn threads_are_advised_where_all_were_counted_as_taken() {
    let fixed = waits(ms(250));
    let words = [
        "\nBottleneck: the threads or workers of rails. ",
        "waits a fixed time for something outside",
    ];
    check_limit(puma(4.9, Some(5.0), fixed), Limit::Workers, &words);
    let words =
        ["(0.99 requests in it at a time, room for 5)", "a proxy", "since threads are free"];
    check_limit(puma(0.99, Some(5.0), fixed), Limit::Queue, &words);
    let words = ["\nBottleneck: the queue before rails. ", "see whether its threads are taken"];
    check_limit(puma(4.9, None, fixed), Limit::Queue, &words);
}

#[test]
fn a_lock_of_the_language_asks_for_processes_and_not_for_threads() {
    let with = |busy: f64, used: f64, waiting: f64| {
        let mut servers = puma(4.9, Some(5.0), waits(ms(30)));
        servers.cpu = Some(Cpu {
            cores: 2.0,
            busy,
            watched: Some(used),
            busiest: Some(("puma".to_owned(), used)),
            waiting: Some(waiting),
        });
        servers
    };
    let words = [
        "\nBottleneck: the one core of the process puma. ",
        "\nNext: spread the work over more processes",
    ];
    check_limit(with(1.1, 0.99, 0.0), Limit::OneCore, &words);
    check_limit(with(2.0, 0.92, 0.05), Limit::OneCore, &words);
    // What keeps it from the core is the other programs.
    check_limit(with(2.0, 0.6, 0.35), Limit::CpuOfOthers, &["end the other programs"]);
}

/// A proxy of one connection before Puma, on a machine that others keep busy: four of five threads are free, and get a core at once.
#[test]
fn issue_40_a_busy_machine_is_not_what_requests_before_free_threads_wait_for() {
    let with = |waiting: f64| {
        let mut servers = puma(0.965, Some(5.0), waits(ms(250)));
        servers.cpu = Some(Cpu {
            cores: 2.0,
            busy: 1.98,
            watched: Some(0.03),
            busiest: Some(("puma".to_owned(), 0.03)),
            waiting: Some(waiting),
        });
        servers
    };
    let words = ["\nBottleneck: the queue before rails. ", "a proxy", "since threads are free"];
    check_limit(with(0.05), Limit::Queue, &words);
    check_limit(with(0.6), Limit::CpuOfOthers, &["end the other programs"]);
}

#[test]
fn a_quota_is_named_with_its_size_and_whom_it_throttled() {
    let servers =
        Servers { throttled: 0.95, quota: Some(0.3), ..puma(4.9, Some(5.0), waits(ms(55))) };
    let words = [
        "\nBottleneck: the container's CPU quota. ",
        "; the container's CPU quota of 0.3 cores throttled puma in 95% of the periods.",
        "\nNext: raise the container's CPU quota",
    ];
    check_limit(servers, Limit::Quota, &words);
}

#[test]
fn memory_that_grows_is_said_with_its_rate() {
    let growth = MemoryGrowth {
        name: "puma".to_owned(),
        per_minute: 465.0 * f64::from(1 << 20),
        from: 205.0 * f64::from(1 << 20),
        to: 360.0 * f64::from(1 << 20),
    };
    let facts = Facts { servers: Some(Servers { growth: Some(growth), ..rails() }), ..steady() };
    let words = " The memory of puma grows by 465.0 MiB a minute (from 205.0 MiB to 360.0 MiB after the warm-up) and has not \
                 stopped: perhaps a leak.\n";
    assert!(text(&facts).contains(words), "{}", text(&facts));
}

#[test]
fn a_run_that_a_flag_ended_begins_with_that() {
    let ended_early = Some("after 3.1s, since gate errors>1% is surely crossed".to_owned());
    let facts = Facts { ended_early, is_interrupted: true, ..steady() };
    let words = "The run was ended early by -abort-when, after 3.1s, since gate errors>1% is surely crossed.\n";
    assert!(text(&facts).starts_with(words), "{}", text(&facts));
}

/// 10 % of answers fail, each after 4 s: the time that the last ones take is none in which requests were due.
#[test]
fn issue_39_a_rate_is_of_the_time_in_which_requests_were_due() {
    let facts = Facts {
        offered: Offered::Rate(40.0),
        requests: 400,
        successes: 360,
        duration: ms(9_975),
        elapsed: ms(14_000),
        classes: vec![(Class::Status(metrics::Outcome::Http(500)), 40)],
        backlog: Some(Backlog { trend: Trend::Level, ..Backlog::default() }),
        succeeded_meanwhile_per_s: Some(21.6),
        ..Facts::default()
    };
    let first = Conclusion::from_facts(&facts).first().to_owned();
    assert_eq!(first, "40/s for 10s, 36/s answered with success: 10% of the requests fail.");
}

/// Iterations that no user was free for only take from the load: what the server could not do with the rest stands.
#[test]
fn issue_39_an_overload_stands_where_iterations_were_not_begun() {
    let backlog = |trend| Some(Backlog { trend, growth: 0.3, delay: 3.0, ..Backlog::default() });
    let facts = |trend| Facts {
        measurement: Measurement::NotBegun,
        not_begun: 116,
        backlog: backlog(trend),
        doubts: vec!["116 iterations fell due and were never begun".to_owned()],
        ..overloaded()
    };
    let conclusion = Conclusion::from_facts(&facts(Trend::Growing));
    assert_eq!(conclusion.outcome, Outcome::Overloaded);
    let first = conclusion.first();
    assert!(first.contains("; 116 iterations were never begun"), "{first}");
    assert_eq!(Outcome::of(&facts(Trend::Level)), Outcome::Unjudged);
    let first = Conclusion::from_facts(&facts(Trend::Level)).first().to_owned();
    assert_eq!(
        first,
        "Do not judge the server by this run: it is INVALID, since 116 iterations fell due and were never begun."
    );
}

/// Users who wait ask for nothing, and a server that stands still was VALID without a word.
#[test]
fn issue_39_a_closed_loop_sees_pauses_and_a_server_that_slows_down() {
    let pause = Some(Pause { at: ms(5000), length: ms(4000), waited: 8, ..Pause::default() });
    let facts = Facts {
        offered: Offered::Users(8),
        backlog: Some(Backlog { pause, ..Backlog::default() }),
        ..steady()
    };
    let conclusion = Conclusion::from_facts(&facts);
    assert_eq!(conclusion.outcome, Outcome::Paused);
    assert_eq!(
        conclusion.first(),
        "8 users for 30s, all answered: the server answered nothing for 4s, from 5s to 9s; only 8 requests waited for its end, so \
         percentiles hardly show it."
    );
    let own =
        Facts { measurement: Measurement::Late, is_load_short: true, lag_max: ms(3900), ..facts };
    assert_eq!(Outcome::of(&own), Outcome::Unjudged, "the generator stood still");
    let course = Some(course(ms(29_983), 1800, [20, 120, 260]));
    let slower = Facts { offered: Offered::Users(8), course, ..steady() };
    let first = Conclusion::from_facts(&slower).first().to_owned();
    assert!(
        first.ends_with("; the median response time grew from 20ms to 260ms over the run."),
        "{first}"
    );
}

#[test]
fn issue_39_a_few_milliseconds_of_lateness_take_nothing_from_users_or_timeouts() {
    let late = Facts { measurement: Measurement::Late, lag_max: ms(9), ..steady() };
    let users = Facts { offered: Offered::Users(8), raised: [false, true, false], ..late.clone() };
    assert_eq!(Outcome::of(&users), Outcome::ByUsers);
    let raised = Facts { raised: [true; 3], ..users.clone() };
    assert_eq!(Outcome::of(&raised), Outcome::Unjudged);
    assert_eq!(Outcome::of(&Facts { is_load_short: true, ..users }), Outcome::Unjudged);
    let timeout = Class::Failure(FailureKind::Timeout);
    let timed_out = failing(Facts { timed_out_from: Some(ms(3000)), ..late }, timeout, 180, 180);
    assert_eq!(Outcome::of(&timed_out), Outcome::TimedOut);
    let stood = Facts { lag_max: ms(2900), ..timed_out };
    assert_eq!(Outcome::of(&stood), Outcome::Unjudged, "it may have made them");
}

#[test]
fn issue_39_checks_that_fail_are_no_keeping_up() {
    let worst = || "has title".to_owned();
    let checks = |failed| Checks { all: 360, failed, worst: worst(), worst_failed: failed };
    let facts = Facts { checks: checks(360), ..steady() };
    let conclusion = Conclusion::from_facts(&facts);
    assert_eq!((conclusion.outcome.name(), conclusion.outcome.class()), ("failing", "bad"));
    assert_eq!(conclusion.first(), "60/s for 30s, all answered, but 360 of 360 checks fail.");
    assert_eq!(conclusion.result, "FAILS, 360 of 360 checks fail");
    let rare = text(&Facts { checks: checks(2), ..steady() });
    assert!(rare.contains("2 of 360 checks fail (0.56%), each time \"has title\"."), "{rare}");
}

#[test]
fn issue_39_a_backlog_that_was_worked_off_is_said() {
    let gone = WorkedOff { from: ms(8000), until: ms(14_000), most: 250.0, asked: 200.0 };
    let backlog = Backlog {
        trend: Trend::Level,
        is_answered: true,
        worked_off: Some(gone),
        ..Backlog::default()
    };
    let conclusion = Conclusion::from_facts(&Facts { backlog: Some(backlog), ..steady() });
    assert_eq!(
        conclusion.first(),
        "60/s for 30s, all answered: the server fell behind from 8s to 14s, when up to 250 requests waited, and kept up before and \
         after."
    );
    let burst = Backlog { loads: Some([30.0, 200.0]), ..backlog };
    let burst = Conclusion::from_facts(&Facts { backlog: Some(burst), ..steady() });
    assert!(
        burst.first().ends_with("when up to 200/s were asked and up to 250 requests waited, and kept up before and after."),
        "{}",
        burst.first()
    );
    let cold = WorkedOff { from: ms(500), ..gone };
    let cold = Backlog { worked_off: Some(cold), ..backlog };
    let cold = Conclusion::from_facts(&Facts { backlog: Some(cold), ..steady() });
    assert!(
        cold.first().contains("fell behind, perhaps still cold, from 500ms to 14s"),
        "{}",
        cold.first()
    );

    assert_eq!(conclusion.result, "kept up with 60/s, but fell behind from 8s to 14s, no errors");
}

/// Each 50th request of a bench hung for ever, until all eight users did: "136/s answered" of 32.8 s and 400 requests.
#[test]
fn issue_39_users_that_hang_have_the_time_of_their_rate() {
    let pause =
        Pause { at: ms(2_900), length: ms(29_900), waited: 8, is_last: true, ..Pause::default() };
    let hung = Facts {
        offered: Offered::Users(8),
        requests: 400,
        successes: 392,
        unanswered: 8,
        elapsed: ms(32_800),
        duration: ms(2_800),
        classes: vec![(TIMEOUT, 8)],
        backlog: Some(Backlog { pause: Some(pause), ..Backlog::default() }),
        ..steady()
    };
    let conclusion = Conclusion::from_facts(&hung);
    assert_eq!(conclusion.outcome.name(), "paused");
    assert_eq!(
        conclusion.first(),
        "8 users for 32.8s: 135/s answered in the first 2.9s, nothing in the 29.9s after it, in which 8 requests waited for an answer."
    );
    // One user alone hung, and the others were done.
    let backlog = Some(Backlog::default());
    let one = Facts { succeeded_meanwhile_per_s: Some(140.0), backlog, ..hung };
    assert_eq!(
        Conclusion::from_facts(&one).first(),
        "8 users for 32.8s: 140/s answered in the 2.8s in which they asked for more."
    );
}

/// A median of 101 ms beside "overloaded" read as a contradiction.
#[test]
fn issue_39_an_overload_says_what_waits_and_what_became_of_it() {
    let late = Some(Late { than: ms(11_000), share: 0.24 });
    let backlog =
        Backlog { trend: Trend::Growing, growth: 0.15, last: 270.0, ..Backlog::default() };
    let times = [ms(101), ms(22_000), ms(23_100)];
    let facts = Facts { late, times, backlog: Some(backlog), course: None, ..overloaded() };
    let text = text(&facts);
    let first = "60/s for 30s, 51/s answered: the server is overloaded and falls behind by 9/s; the 270 requests that still waited at \
                 the end were answered within 5.31s after it.\n";
    assert!(text.starts_with(first), "{text}");
    let waits = "\nThe server takes some requests before others: 24% waited longer than 11s, and the rest hardly; half of the requests \
                 took at most 101ms, ";
    assert!(text.contains(waits), "{text}");
}

#[test]
fn issue_39_answers_that_become_slower_without_a_queue_are_said() {
    let level = Backlog { trend: Trend::Level, is_answered: true, ..Backlog::default() };
    let course = Some(course(ms(29_983), 1800, [80, 180, 280]));
    let slower = Facts { course, backlog: Some(level), ..steady() };
    assert_eq!(
        Conclusion::from_facts(&slower).first(),
        "60/s for 30s, all answered: the server kept up; the median response time grew from 80ms to 280ms over the run."
    );
    let unclear = Backlog { trend: Trend::Unclear, ..level };
    let first = text(&Facts { backlog: Some(unclear), ..slower });
    assert!(
        first.contains("but it became slower: the median response time grew from 80ms in the run's first third to 280ms in its last"),
        "{first}"
    );
}

#[test]
fn issue_39_several_pauses_are_counted() {
    let all =
        Repeat { times: 3, sum: ms(4200), longest: ms(1900), first: ms(2000), last: ms(12_000) };
    let pause = Some(Pause { at: ms(7000), length: ms(1900), all: Some(all), ..Pause::default() });
    let level = Backlog { trend: Trend::Level, is_answered: true, pause, ..Backlog::default() };
    let conclusion = Conclusion::from_facts(&Facts { backlog: Some(level), ..steady() });
    assert!(
        conclusion.first().ends_with(
            "the server answered nothing for a second or longer 3 times, 4.2s in all, the first at 2s, the last at 12s; it kept up in \
             between."
        ),
        "{}",
        conclusion.first()
    );
    assert_eq!(conclusion.result, "PAUSED 3 times, 4.2s in all at 60/s, no errors");
}

#[test]
fn issue_39_failures_without_a_moment_say_so_and_whose_they_are() {
    let spread =
        Spread { is_all_through: true, targets: Targets::Alike(4), text: Some("tls: no".into()) };
    let facts = |class| Facts { spread: spread.clone(), ..failing(steady(), class, 180, 0) };
    let of = |class| text(&facts(class)).lines().nth(1).unwrap_or_default().to_owned();
    assert_eq!(
        of(Class::Failure(FailureKind::Tls)),
        "180 of 1,800 requests (10%) failed: 180 failed in TLS (tls: no), all through the run, of all 4 targets alike."
    );
    assert_eq!(
        of(Class::Status(metrics::Outcome::Http(504))),
        "180 of 1,800 requests (10%) failed: 180 got status 504, all through the run, of all 4 targets alike; so says a proxy (or the \
         server, in its place) that gave up waiting for what is behind it."
    );
}

#[test]
fn issue_39_a_log_in_page_that_keeps_up_is_no_server_that_does() {
    let elsewhere = Some(Elsewhere {
        names: vec!["GET http://h/account".to_owned()],
        to: "/login".to_owned(),
        requests: 1_800,
        ..Elsewhere::default()
    });
    let text = text(&Facts { elsewhere, ..steady() });
    assert!(!text.contains("the server kept up"), "{text}");
    assert!(
        text.contains("\n60/s for 30s, all answered, 100% of the requests with a log-in page.\n"),
        "{text}"
    );
}
