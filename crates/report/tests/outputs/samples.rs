//! Hand-made runs for the reports' tests.

use metrics::{
    Batch, By, FailureKind, Generator, Groups, GrpcStatus, Outcome, Sample, Summary, TargetLabel,
    TargetTable, Timeline, Traffic, Verdict,
};
use report::{BucketCounts, Buckets, Input};
use stdx::Nanos;

/// 2023-11-14T22:13:20Z.
const EPOCH: i64 = 1_700_000_000_000_000_000;

/// A run as the reports see it.
pub(crate) struct Seen {
    /// The figures.
    pub(crate) summary: Summary,
    /// The rows.
    batch: Batch,
    verdict: Verdict,
    generator: Generator,
    losses: Vec<String>,
    groups: Groups,
    timeline: Timeline,
    traffic: Traffic,
}

impl Seen {
    fn of(batch: &Batch, targets: &TargetTable, generator: Generator, losses: &[&str]) -> Self {
        let (mut summary, mut groups) = (Summary::new(), Groups::new(By::Target));
        let mut timeline = Timeline::new();
        summary.add(batch);
        groups.add(batch, targets);
        timeline.add(batch);
        let mut traffic = Traffic::new();
        traffic.add(batch);
        let losses: Vec<String> = losses.iter().map(|loss| (*loss).to_owned()).collect();
        let verdict = Verdict::new(&summary, Some(&generator), &losses);
        Self {
            summary,
            batch: batch.clone(),
            verdict,
            generator,
            losses,
            groups,
            timeline,
            traffic,
        }
    }

    /// Its response times between these bounds.
    pub(crate) fn between(&self, bounds: &str) -> BucketCounts {
        let mut counts = BucketCounts::new(&Buckets::parse(bounds).unwrap());
        counts.add(&self.batch);
        counts
    }

    /// No hit at all.
    pub(crate) fn nothing() -> Self {
        Self::of(&Batch::default(), &table(), Generator::default(), &[])
    }

    /// `hits` at 50/s, 2 ms each.
    pub(crate) fn steady(hits: u64, status: u16) -> Self {
        let batch = Batch {
            epoch: EPOCH,
            samples: (0..hits).map(|n| sample(n, 2_000_000, status)).collect(),
            texts: Vec::new(),
        };
        Self::of(&batch, &table(), generator(hits, hits), &[])
    }

    /// Two requests of HTTP, a call of gRPC that failed, and a message.
    pub(crate) fn calls() -> Self {
        let unavailable = GrpcStatus::from_name("UNAVAILABLE").expect("a status");
        let http = Outcome::Http(200);
        let outcomes = [http, http, Outcome::Grpc(unavailable), Outcome::Message];
        let hits = (0..).zip(outcomes);
        let samples = hits.map(|(n, outcome)| Sample { outcome, ..sample(n, 2_000_000, 200) });
        let batch = Batch { epoch: EPOCH, samples: samples.collect(), texts: Vec::new() };
        Self::of(&batch, &table(), generator(4, 4), &[])
    }

    /// 40 hits: answers, error statuses, refusals with hostile texts; two hits not sent, something lost.
    pub(crate) fn mixed() -> Self {
        let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
        let refused = batch.add_text(b"dial \x1b[31m</script><b>\"quotes\" & 'more' | refused");
        let gone = batch.add_text(b"404 Gone Fishing");
        for n in 0..40 {
            let mut one = sample(n, 500_000 * (n + 1), 200);
            one.target = (n % 2) as u32;
            match n % 10 {
                3 => {
                    (one.outcome, one.failure, one.error) =
                        (Outcome::None, FailureKind::Refused, refused);
                }
                7 => (one.outcome, one.error) = (Outcome::Http(404), gone),
                _ => {}
            }
            batch.samples.push(one);
        }
        let mut generator = generator(42, 40);
        (generator.tick, generator.held) = (Nanos::from_micros(200), 5);
        (generator.stalls, generator.stall_longest) = (1, Nanos::from_millis(300));
        Self::of(&batch, &table(), generator, &["the file ends in the middle of a batch"])
    }

    /// A minute of changing load, for looking at.
    pub(crate) fn minute() -> Self {
        let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
        let text = batch.add_text(b"503 Service Unavailable");
        let mut rng = stdx::Prng::new(1);
        for n in 0..12_000u64 {
            let slow = if (4_000..5_000).contains(&n) { 8.0 } else { 1.0 };
            let took = (20e6 * slow * (0.3 + rng.exponential())) as u64;
            let mut one = sample(n, took, 200);
            one.intended = Nanos(n * 5_000_000);
            one.sent = one.intended + Nanos(30_000 + rng.below(took / 2));
            one.done = one.intended + Nanos(took);
            one.target = rng.below(3) as u32 % 2;
            if slow > 1.0 && rng.below(10) == 0 {
                (one.outcome, one.error) = (Outcome::Http(503), text);
            }
            batch.samples.push(one);
        }
        Self::of(&batch, &table(), generator(12_000, 12_000), &[])
    }

    /// All of it as a report's input.
    pub(crate) fn input<'a>(&'a self, title: &'a str) -> Input<'a> {
        Input {
            title,
            summary: &self.summary,
            verdict: &self.verdict,
            generator: Some(&self.generator),
            losses: &self.losses,
            groups: Some(&self.groups),
            attacked: None,
            by_target: None,
            timeline: Some(&self.timeline),
            traffic: Some(&self.traffic),
            buckets: None,
            server: None,
            selected: "",
            parts: &[],
            assertions: &[],
        }
    }
}

/// 41 requests as ApacheBench counts them: a tenth refused, a tenth 404, two lengths, a hostile server's name.
pub(crate) fn ab_figures() -> report::ab::Figures {
    let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
    let headers = batch.add_text(b"Server: <Foo>\x7f/1.0 more\r\nConnection: keep-alive\r\n");
    for n in 0..41 {
        let mut one = sample(n, 500_000 * (n * n + 1), 200);
        (one.headers, one.wire_in) = (headers, one.bytes_in + 100);
        one.dial = if n < 4 { Nanos::from_micros(700 * (n + 1)) } else { Nanos::ZERO };
        match n % 10 {
            3 => (one.outcome, one.failure) = (Outcome::None, FailureKind::Refused),
            7 => (one.outcome, one.bytes_in) = (Outcome::Http(404), one.bytes_in + 1),
            _ => {}
        }
        batch.samples.push(one);
    }
    let mut figures = report::ab::Figures::new(report::ab::Rules::default());
    figures.add(&batch);
    figures
}

fn table() -> TargetTable {
    let label = |url: &str| TargetLabel {
        attack: "home".into(),
        method: "GET".into(),
        url: url.into(),
        name: String::new(),
        tags: String::new(),
    };
    TargetTable::from(vec![label("http://127.0.0.1/"), label("http://127.0.0.1/<b>|x")])
}

/// Hit number `n` at 50/s; it waited 0.2 ms before it was sent.
fn sample(n: u64, took_ns: u64, status: u16) -> Sample {
    let intended = Nanos((n + 1) * 20_000_000);
    Sample {
        seq: n,
        intended,
        sent: intended + Nanos(200_000),
        first_byte: intended + Nanos(took_ns),
        done: intended + Nanos(took_ns),
        bytes_in: 100,
        wire_in: 250,
        outcome: Outcome::http(status),
        ..Sample::default()
    }
}

fn generator(planned: u64, sent: u64) -> Generator {
    let mut generator = Generator::new();
    (generator.planned, generator.sent, generator.not_sent) = (planned, sent, planned - sent);
    (generator.workers, generator.io) = (2, "epoll".to_owned());
    (generator.rate_per_s, generator.seed, generator.connections) = (50.0, 7, 3);
    (generator.cpu, generator.cpu_busiest) = (Nanos::from_millis(123), 0.031);
    (generator.wall, generator.finished) = (Nanos::from_secs(5), true);
    for n in 0..sent {
        generator.lag.record(Nanos(10_000 + n * 10));
    }
    generator
}
