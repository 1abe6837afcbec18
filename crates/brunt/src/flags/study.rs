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
    switch!(StudyFlags, "quick", "The short form: [study.quick] and the workloads' quick.", quick)
        .native(),
    Flag::new(
        "only",
        ValueKind::Text("VARIANT,…"),
        "",
        "Run these variants alone; the report says which were left out.",
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
        "Folder of the results, the report and what is needed to go on.",
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
        "Remove what an earlier study left in the folder; begin anew.",
        fresh
    )
    .native(),
    switch!(StudyFlags, "force", "new: overwrite a file that is there.", force).native(),
    switch!(StudyFlags, "json", "Tell each run as a line of JSON on standard output.", json)
        .native(),
];
