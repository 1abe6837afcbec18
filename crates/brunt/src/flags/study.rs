//! The flags of `study`.

use cli::{Flag, ValueError, ValueKind, flag_table, switch, value};
use lab::UntilSure;
use session::OnInvalid;
use session::save::{self, SaveFlags, Saves};
use stdx::Nanos;
use study::contrast::{Measure, RUNS_MAX, RUNS_MIN};

/// The flags of `study` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StudyFlags {
    pub(crate) quick: bool,
    /// Names of variants; empty for all.
    pub(crate) only: Vec<String>,
    pub(crate) out: Option<String>,
    pub(crate) fresh: bool,
    pub(crate) force: bool,
    pub(crate) json: bool,
    /// The measures that must be decided; empty without `-until-sure`.
    pub(crate) until_sure: Vec<Measure>,
    /// `None`: [`REPEATS_MAX`].
    pub(crate) max_runs: Option<usize>,
    pub(crate) max_time: Option<Nanos>,
    /// The address of the live page; empty for any that is free.
    pub(crate) web: Option<String>,
    /// Whether INVALID runs decide the exit code.
    pub(crate) on_invalid: OnInvalid,
    pub(crate) saving: SaveFlags,
}

impl Saves for StudyFlags {
    fn saving(&mut self) -> &mut SaveFlags {
        &mut self.saving
    }
}

/// Runs of each variant under each workload, at most, unless `-max-runs` says otherwise.
const REPEATS_MAX: usize = 20;

impl StudyFlags {
    /// The first flag given that stands for nothing where a study is run.
    #[must_use]
    pub(crate) fn stray_of_run(&self) -> Option<&'static str> {
        self.force.then_some("force")
    }

    /// The same where a study's file is written.
    #[must_use]
    pub(crate) fn stray_of_new(&self) -> Option<&'static str> {
        let given = [
            ("quick", self.quick),
            ("only", !self.only.is_empty()),
            ("out", self.out.is_some()),
            ("fresh", self.fresh),
            ("json", self.json),
            ("until-sure", !self.until_sure.is_empty()),
            ("max-runs", self.max_runs.is_some()),
            ("max-time", self.max_time.is_some()),
            ("web", self.web.is_some()),
            ("fail-on-invalid", self.on_invalid == OnInvalid::Fail),
            ("save", self.saving.save.is_some()),
            ("store", self.saving.store.is_some()),
            ("label", !self.saving.labels.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

impl StudyFlags {
    /// A bound of `-until-sure` that is given without it.
    #[must_use]
    pub(crate) fn stray_bound(&self) -> Option<&'static str> {
        let bounds = [("max-runs", self.max_runs.is_some()), ("max-time", self.max_time.is_some())];
        let given = bounds.into_iter().find(|(_, given)| *given);
        given.filter(|_| self.until_sure.is_empty()).map(|(name, _)| name)
    }

    /// When the study ends, if it goes on until it is sure.
    #[must_use]
    pub(crate) fn until_sure(&self) -> Option<UntilSure> {
        (!self.until_sure.is_empty()).then(|| UntilSure {
            measures: self.until_sure.clone(),
            repeats_max: self.max_runs.unwrap_or(REPEATS_MAX),
            time_max: self.max_time,
        })
    }
}

/// Measures by their names, separated by commas.
fn measures(text: &str) -> Result<Vec<Measure>, ValueError> {
    let one = |name: &str| {
        Measure::named(name.trim()).ok_or_else(|| {
            ValueError::new(format!(
                "\"{}\" is no metric (expected mean, p50, p90, p99, throughput or errors)",
                name.trim()
            ))
        })
    };
    text.split(',').map(one).collect()
}

/// The flags of `study`.
pub(crate) const STUDY: &[Flag<StudyFlags>] = flag_table!(StudyFlags: OWN, &save::rows());

/// The study.
const OWN: &[Flag<StudyFlags>] = &[
    switch!(
        StudyFlags,
        "quick",
        "Run the short form: the values of [study.quick] and of each workload's quick.",
        quick
    )
    .native(),
    Flag::new(
        "only",
        ValueKind::Text("VARIANT,…"),
        "",
        "Run only these variants; the report lists those left out.",
        |t: &mut StudyFlags, v| {
            let names = v.split(',').map(str::trim).filter(|name| !name.is_empty());
            t.only.extend(names.map(str::to_owned));
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "out",
        ValueKind::Text("DIR"),
        "NAME-study",
        "Folder for the results, the report and the state that a second command continues from.",
        |t: &mut StudyFlags, v| {
            t.out = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["output", "o"])
    .native(),
    switch!(
        StudyFlags,
        "fresh",
        "Remove an earlier study's files from the folder and start again.",
        fresh
    )
    .native(),
    switch!(StudyFlags, "force", "new: overwrite an existing file.", force).native(),
    Flag::new(
        "until-sure",
        ValueKind::Text("METRIC,…"),
        "",
        "Go on with interleaved runs until these metrics are decided, such as p50,throughput; ignores repeats.",
        |t: &mut StudyFlags, v| measures(v).map(|measures| t.until_sure = measures),
    )
    .native(),
    Flag::new(
        "max-runs",
        ValueKind::Text("N"),
        "20",
        "With -until-sure: the most runs of each variant under each workload, 3 to 200.",
        |t: &mut StudyFlags, v| {
            let runs = value::number(v)? as usize;
            if !(RUNS_MIN..=RUNS_MAX).contains(&runs) {
                return Err(ValueError::new(format!("{runs} is not from {RUNS_MIN} to {RUNS_MAX}")));
            }
            t.max_runs = Some(runs);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "max-time",
        ValueKind::Duration,
        "",
        "With -until-sure: the most time that runs may take together.",
        |t: &mut StudyFlags, v| value::duration(v).map(|time| t.max_time = Some(time)),
    )
    .native(),
    Flag::new("web", session::web::VALUE, "", session::web::DOCS, |t: &mut StudyFlags, v| {
        t.web = Some(v.to_owned());
        Ok(())
    })
    .native(),
    Flag::new(
        "fail-on-invalid",
        ValueKind::Switch,
        "",
        "Exit with code 5 if one of the runs is INVALID.",
        |t: &mut StudyFlags, v| OnInvalid::parse(v).map(|on| t.on_invalid = on),
    )
    .native(),
    switch!(StudyFlags, "json", "Print each run as a line of JSON on standard output.", json)
        .native(),
];
