//! The flags of `study`.

use cli::{Flag, ValueKind, switch};

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
}

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
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// The flags of `study`.
pub(crate) const STUDY: &[Flag<StudyFlags>] = &[
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
    switch!(StudyFlags, "json", "Print each run as a line of JSON on standard output.", json)
        .native(),
];
