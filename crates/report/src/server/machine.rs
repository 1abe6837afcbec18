//! Tables of machines, processes and scraped series.

use metrics::server::{Measure, SourceSummary};
use stdx::Nanos;

use super::side::ServerSide;
use super::table::{Table, percent, size};
use crate::number::{counted, duration, number};

/// How a measure is written.
#[derive(Clone, Copy)]
enum Unit {
    Plain,
    Share,
    Size,
    SizePerSecond,
    PerSecond,
}

/// The measures of a machine in its table, with the condition for their row.
const MACHINE: [(&str, &str, Unit, RowCondition); 25] = [
    ("load1", "Load, 1 min", Unit::Plain, RowCondition::Always),
    ("load5", "Load, 5 min", Unit::Plain, RowCondition::AboveZero),
    ("running", "Runnable", Unit::Plain, RowCondition::AboveZero),
    ("cpu", "CPU", Unit::Share, RowCondition::Always),
    ("cpu.user", "CPU, user", Unit::Share, RowCondition::AboveZero),
    ("cpu.system", "CPU, system", Unit::Share, RowCondition::AboveZero),
    ("cpu.softirq", "CPU, soft interrupts", Unit::Share, RowCondition::AboveZero),
    ("cpu.iowait", "CPU, waiting for disks", Unit::Share, RowCondition::AboveZero),
    ("cpu.steal", "CPU, taken by the host (steal)", Unit::Share, RowCondition::AboveZero),
    ("memory.used", "Memory used", Unit::Size, RowCondition::Always),
    ("memory.available", "Memory available", Unit::Size, RowCondition::AboveZero),
    ("memory.total", "Memory", Unit::Size, RowCondition::AboveZero),
    ("swap.used", "Swap used", Unit::Size, RowCondition::AboveZero),
    ("net.in", "Network in", Unit::SizePerSecond, RowCondition::AboveZero),
    ("net.out", "Network out", Unit::SizePerSecond, RowCondition::AboveZero),
    ("net.loopback", "Network, loopback", Unit::SizePerSecond, RowCondition::AboveZero),
    ("disk.read", "Disk read", Unit::SizePerSecond, RowCondition::AboveZero),
    ("disk.written", "Disk written", Unit::SizePerSecond, RowCondition::AboveZero),
    ("switches", "Context switches", Unit::PerSecond, RowCondition::AboveZero),
    ("tcp.retransmits", "TCP retransmits", Unit::PerSecond, RowCondition::Always),
    ("tcp.listen_drops", "Listen drops", Unit::PerSecond, RowCondition::Always),
    ("pressure.cpu", "Pressure on CPU", Unit::Share, RowCondition::AboveZero),
    ("pressure.memory", "Pressure on memory", Unit::Share, RowCondition::AboveZero),
    ("pressure.io", "Pressure on I/O", Unit::Share, RowCondition::AboveZero),
    ("throttled", "Throttled", Unit::Share, RowCondition::AboveZero),
];

/// When a row is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowCondition {
    Always,
    /// Where it was ever above zero.
    AboveZero,
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Plain => format!("{value:.2}"),
            Self::Share => percent(value),
            Self::Size => size(value),
            Self::SizePerSecond => format!("{}/s", size(value)),
            Self::PerSecond => format!("{}/s", number(value)),
        }
    }
}

/// A table for each machine.
pub(super) fn tables(server: &ServerSide<'_>) -> Vec<Table> {
    let machines = server.side.sources().iter().filter(|source| source.source == "machine");
    machines.map(|machine| of_machine(server, machine)).collect()
}

fn of_machine(server: &ServerSide<'_>, machine: &SourceSummary) -> Table {
    let mut rows = Vec::new();
    for (name, title, unit, condition) in MACHINE {
        let Some(measure) = machine.measure(name).filter(|measure| measure.count > 0) else {
            continue;
        };
        if condition == RowCondition::Always || measure.max > 0.0 {
            let values = [server.mean(measure), measure.max].map(|value| unit.write(value));
            rows.push(std::iter::once(title.to_owned()).chain(values).collect());
        }
        if name == "cpu" {
            rows.extend(busiest_core(server, &machine.host));
        }
    }
    let (host, readings) = (&machine.host, counted(machine.readings, "reading"));
    let title = format!("Machine {host}, {readings} in {}", duration(machine.span()));
    Table { title, heads: vec!["mean", "max"], rows, more: 0 }
}

/// The core with the highest mean: a saturated core limits work on one thread, however idle the others are.
fn busiest_core(server: &ServerSide<'_>, host: &str) -> Option<Vec<String>> {
    let cores = server
        .side
        .sources()
        .iter()
        .filter(|source| source.host == host && source.source.starts_with("core "));
    let cpu = cores.filter_map(|core| Some((core, core.measure("cpu")?)));
    let (core, cpu) = cpu.max_by(|a, b| server.mean(a.1).total_cmp(&server.mean(b.1)))?;
    Some(vec![format!("Busiest: {}", core.source), percent(server.mean(cpu)), percent(cpu.max)])
}

/// Is it a process, a tree of them, or a container?
pub(super) fn is_process(source: &str) -> bool {
    ["process ", "tree ", "cgroup "].iter().any(|kind| source.starts_with(kind))
}

/// A row for each process, tree and container.
pub(super) fn processes(server: &ServerSide<'_>) -> Table {
    let all = server.side.sources().iter().filter(|source| is_process(&source.source));
    let several = server.side.sources().iter().any(|one| one.host != server.side.sources()[0].host);
    let rows = all.map(|one| {
        let cpu = one.measure("cpu").filter(|cpu| cpu.count > 0);
        let cores = |of: &dyn Fn(&Measure) -> f64| {
            cpu.map_or("-".to_owned(), |cpu| format!("{:.2}", of(cpu)))
        };
        let most =
            |name: &str| one.measure(name).map_or("-".to_owned(), |measure| number(measure.max));
        let memory = one.measure("rss").or_else(|| one.measure("memory"));
        let time = cpu.map(|cpu| Nanos::from_secs_f64(cpu.integral).rounded().to_string());
        vec![
            if several { format!("{} {}", one.host, one.source) } else { one.source.clone() },
            cores(&|cpu| server.mean(cpu)),
            cores(&|cpu| cpu.max),
            time.unwrap_or_else(|| "-".to_owned()),
            memory.map_or("-".to_owned(), |memory| size(memory.max)),
            most("processes"),
            most("threads"),
            most("descriptors"),
            one.measure("throttled").map_or("-".to_owned(), |share| percent(share.mean())),
        ]
    });
    let mut heads = vec![
        "cores, mean",
        "max",
        "CPU time",
        "memory, max",
        "processes",
        "threads",
        "descriptors",
        "throttled",
    ];
    let mut rows: Vec<Vec<String>> = rows.collect();
    if rows.iter().all(|row| row.last().is_some_and(|cell| cell == "-")) {
        heads.pop();
        rows.iter_mut().for_each(|row| row.truncate(heads.len() + 1));
    }
    Table::new("Processes", heads, rows.into_iter())
}

/// The series of Prometheus endpoints.
pub(super) fn scrapes(server: &ServerSide<'_>) -> Table {
    let scrapes = server.side.sources().iter().filter(|one| one.source.starts_with("scrape "));
    let rows = scrapes.flat_map(|scrape| {
        scrape.measures.iter().map(|(name, measure)| {
            let values = [measure.mean(), measure.max, measure.last].map(number);
            std::iter::once(name.clone()).chain(values).collect()
        })
    });
    Table::new("Scraped", vec!["mean", "max", "last"], rows)
}
