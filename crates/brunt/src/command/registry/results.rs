//! Commands that read results, or make many of them.

use cli::{CommandSpec, rows_of};

use crate::analyze::{compare, dump, encode, fit, plot, report, runs, ui};

/// `report`.
pub(super) const REPORT: CommandSpec = CommandSpec {
    name: "report",
    summary: "Report results: text, JSON, histogram, HTML, Markdown, JUnit.",
    operands: "[FILE…]",
    about: "Reads results in any format from the files, or from standard input, and merges them by time. Ctrl-C \
            reports what was read so far.",
    examples: &[
        ("brunt report results.bin", "the text report"),
        ("brunt report -type=html -output=report.html results.bin", "one page with charts"),
        ("brunt report -type='hist[0,10ms,100ms]' results.bin", "a histogram"),
        ("brunt attack … | brunt report -every=1s", "live"),
    ],
    rows: || rows_of(report::REPORT),
    run: report::run,
    validate: None,
};

/// `plot`.
pub(super) const PLOT: CommandSpec = CommandSpec {
    name: "plot",
    summary: "Draw results: latency over time, percentile curves, histograms, overlays, bars.",
    operands: "[[LABEL=]FILE[:COLUMN]…]",
    about: "Reads results in any format from the files, or from standard input. Several files with one label are its \
            runs. COLUMN is response, service, wait or dial, or a column of another program's table, with its \
            unit: total[s].",
    examples: &[
        ("brunt plot results.bin > plot.html", "latency over time"),
        (
            "brunt plot -percentiles -output=compare.svg before=a.bin after=b.bin",
            "two runs in one picture",
        ),
        (
            "brunt plot -bars=rate,duration,transfer,longest -output=bars.html hash=a.bin fair=b.bin",
            "a bar chart per metric",
        ),
        (
            "brunt plot -overlay -json one=a1.bin one=a2.bin four=b1.bin four=b2.bin",
            "do they differ?",
        ),
    ],
    rows: || rows_of(plot::PLOT),
    run: plot::run,
    validate: None,
};

/// `compare`.
pub(super) const COMPARE: CommandSpec = CommandSpec {
    name: "compare",
    summary: "Compare variants run by run: better, worse, the same, or cannot tell.",
    operands: "[LABEL=]FILE|FOLDER [LABEL=]FILE|FOLDER…",
    about: compare::ABOUT,
    examples: &[
        ("brunt compare before/ after/", "two folders of repeats"),
        (
            "brunt compare -fail-on='p99>+5%' -fail-on='throughput<-5%' before/ after/",
            "a gate for CI: exit code 7 if it got worse",
        ),
        (
            "brunt compare -output=compare.html hash=h1.arrow hash=h2.arrow fair=f1.arrow fair=f2.arrow",
            "a page, with the shift of every quantile",
        ),
    ],
    rows: || rows_of(compare::COMPARE),
    run: compare::run,
    validate: None,
};

/// `runs`.
pub(super) const RUNS: CommandSpec = CommandSpec {
    name: "runs",
    summary: "The runs that were saved: list, show, compare, label, export, import, remove.",
    operands: "list | show RUN | compare RUN RUN… | label RUN KEY=VALUE… | export RUN | import FILE… | rm RUN… | prune",
    about: runs::ABOUT,
    examples: &[
        ("brunt runs list -name=home", "all runs called home, newest first"),
        ("brunt runs compare -baseline=home@6 home@3", "the last three against the last six"),
        ("brunt runs import results.bin -name=home", "results of Vegeta as a run of the store"),
        ("brunt runs prune -keep=20 -older-than=30d", "remove what is old"),
    ],
    rows: || rows_of(runs::RUNS),
    run: |invocation| {
        runs::run(invocation, runs::Others { compare: compare::run, report: report::run })
    },
    validate: None,
};

/// `ui`.
pub(super) const UI: CommandSpec = CommandSpec {
    name: "ui",
    summary: "The runs that were saved in the browser: search, compare, trends, notes.",
    operands: "",
    about: ui::ABOUT,
    examples: &[
        ("brunt ui", "the project's store, at 127.0.0.1:8765"),
        ("brunt ui -store=/srv/runs -listen=127.0.0.1:9000", "another store and port"),
    ],
    rows: || rows_of(ui::UI),
    run: ui::run,
    validate: None,
};

/// `fit`.
pub(super) const FIT: CommandSpec = CommandSpec {
    name: "fit",
    summary: "Fit a queueing model to runs at several loads, and predict other loads.",
    operands: "FILE|FOLDER… | STATE",
    about: fit::ABOUT,
    examples: &[
        ("brunt fit -at=128 c1.arrow c4.arrow c16.arrow c64.arrow", "response times of 128 users"),
        ("brunt fit -plot=fit.html seek.json", "the steps of a search, measured and predicted"),
        (
            "brunt fit -point='4:X=35,p50=83ms' -point='16:X=33,p50=450ms' -at=64",
            "figures of another program",
        ),
    ],
    rows: || rows_of(fit::FIT),
    run: fit::run,
    validate: None,
};

/// `encode`.
pub(super) const ENCODE: CommandSpec = CommandSpec {
    name: "encode",
    summary: "Convert results to another format.",
    operands: "[FILE…]",
    about: "Reads results in any format from the files, or from standard input, and merges them by time.",
    examples: &[
        ("brunt encode -to=csv results.bin > results.csv", "for a spreadsheet"),
        ("brunt encode -output=results.parquet results.bin", "for DuckDB, pandas, Polars"),
        ("brunt attack … | brunt encode | jq -r .latency", "live, a line per result"),
    ],
    rows: || rows_of(encode::ENCODE),
    run: encode::run,
    validate: None,
};

/// `dump`.
pub(super) const DUMP: CommandSpec = CommandSpec {
    name: "dump",
    summary: "Vegeta's old name of encode; prints an explanation.",
    operands: "[FILE…]",
    about: "",
    examples: &[],
    rows: || rows_of(dump::DUMP),
    run: dump::run,
    validate: None,
};
