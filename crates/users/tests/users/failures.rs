//! Iterations that fail, and users that cannot be made.

use workload::executor::Executor;

use super::step_user::{Step, Steps};
use super::world::{Reply, World, once, scenario, seconds};

#[test]
fn a_user_that_fails_goes_on_with_its_next_iteration() {
    let executor = Executor::PerVuIterations { vus: 2, iterations: 2, max_duration: seconds(60.0) };
    let steps = Steps::new(&[Step::Get("http://h/"), Step::Fail("no luck"), Step::Sleep(60.0)]);
    let ended = World::new(&steps, scenario(executor, 1.0), 1).run();
    assert_eq!((ended.iterations(), ended.sent.len()), ((4, 0), 4));
    let line = "no luck executor=per-vu-iterations scenario=s source=stacktrace";
    assert_eq!(ended.lines.iter().filter(|known| *known == line).count(), 4, "{:?}", ended.lines);
    assert_eq!(ended.stats.exception.map(|thrown| thrown.text).as_deref(), Some("no luck"));
}

#[test]
fn users_that_cannot_be_made_end_the_test() {
    let executor = Executor::ConstantVus { vus: 4, duration: seconds(60.0) };
    let steps = Steps { last_user: 2, ..Steps::new(&[Step::Sleep(1.0)]) };
    let world = World::new(&steps, scenario(executor, 1.0), 1);
    assert_eq!(world.control.broken().as_deref(), Some("user 3 is one too many"));
    let ended = world.run();
    assert_eq!(ended.iterations(), (0, 0));
    assert_eq!(ended.lines, ["user 3 is one too many hint=script exception"]);
}

#[test]
fn a_request_without_a_response_is_a_failure_in_k6s_words() {
    let steps = Steps::new(&[Step::Get("http://h/"), Step::Get("http://h/again")]);
    let world = World::new(&steps, once(), 1).served_by(|target| match target.url.as_str() {
        "http://h/" => {
            let text = "Get \"http://h/\": dial tcp 127.0.0.1:1: connect: connection refused";
            Reply { failure: Some(("refused", text.to_owned())), ..Reply::default() }
        }
        _ => Reply::ok(),
    });
    let ended = world.run();
    assert_eq!(ended.lines, ["0 as asked  dial: connection refused", "200 as asked "]);
    let failed = ended.stats.tally.value("http_req_failed").unwrap();
    assert_eq!(failed.count(), 2);
}
