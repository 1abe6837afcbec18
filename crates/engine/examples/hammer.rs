//! scratch
use engine::*;
use std::sync::Arc;
use std::time::Duration;
use stdx::*;
use workload::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = Target {
        method: "GET".into(),
        url: a[1].clone(),
        headers: vec![],
        body: Arc::from([]),
        weight: 1,
        name: String::new(),
    };
    let rate: u64 = a[2].parse().unwrap();
    let n: u64 = a[3].parse().unwrap();
    let secs: u64 = a[4].parse().unwrap();
    let load = if rate == 0 {
        Load::Closed { users: n }
    } else {
        Load::Open {
            shape: workload::arrival::Shape::Constant { hits: rate, per: Nanos::SECOND },
            max_in_flight: None,
        }
    };
    let plan = Plan {
        name: String::new(),
        load,
        duration: Some(Nanos::from_secs(secs)),
        targets: Targets::new(vec![t]),
        seed: 1,
    };
    let mut s = Settings { workers: 1, rows: false, ..Settings::default() };
    if let Some(t) = a.get(5) {
        s.tick = Nanos::from_micros(t.parse().unwrap());
    }
    let run = Run::start(plan, &s, None).unwrap();
    let mut all = metrics::Snapshot::new();
    loop {
        match run.next_event(Duration::from_secs(1)) {
            Some(RunEvent::Progress(p)) => {
                let mut p = *p;
                p.generator.clear();
                all.merge(&p);
            }
            Some(RunEvent::Finished(p)) => {
                let g = p.generator.clone();
                all.merge(&p);
                println!(
                    "hits {} ok {} p50 {} p99 {} service p50 {} | planned {} sent {} not {} lag50 {} lag99 {} lag999 {} cpu/hit {:.2}us stalls {}",
                    all.hits(),
                    all.successes,
                    all.response.quantile(0.5),
                    all.response.quantile(0.99),
                    all.service.quantile(0.5),
                    g.planned,
                    g.sent,
                    g.not_sent,
                    g.lag.quantile(0.5),
                    g.lag.quantile(0.99),
                    g.lag.quantile(0.999),
                    g.cpu.0 as f64 / 1000.0 / all.hits() as f64,
                    g.stalls
                );
                println!("{:?}", all.failures);
                break;
            }
            _ => {}
        }
    }
}
