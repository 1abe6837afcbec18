//! The configuration files of a study: those beside its own file, and those that its commands name. Changes to them between runs
//! are reported; they do not stop the study, since their meaning is unknown here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::folder::{OWN, StudyFolder};
use crate::file::{Placeholders, Study, Variant, Workload};

/// Bytes of a file that is read, at most.
const FILE_MAX: u64 = 1 << 20;
/// Files that are read, at most.
const FILES_MAX: usize = 200;
/// Files that are listed by name, at most; some of them are not text.
const NAMES_MAX: usize = 5 * FILES_MAX;
/// Changes that a sentence lists, at most.
const CHANGES_MAX: usize = 10;
/// Characters at which a path in a command ends: the words of a shell may hold several paths.
const ENDS: [char; 9] = [' ', '\t', '\n', '\'', '"', ':', ',', ';', '&'];

/// The fingerprint of a file that is not read.
const UNREAD: &str = "";

/// Files by name, relative to the study's folder, each with a fingerprint of its content.
pub(crate) type Fingerprints = Vec<(String, String)>;

/// The files beside the study's own, and those that the commands of its variants and workloads name by `{study}/…`.
pub(crate) fn fingerprints(folder: &StudyFolder, study: &Study) -> Fingerprints {
    let beside = std::fs::read_dir(&folder.study).into_iter().flatten().flatten();
    let beside = beside.map(|entry| entry.path()).filter(|path| is_configuration(path, folder));
    let variants = study.variants.iter();
    let named = variants.flat_map(|variant| named(&folder.study, variant, &study.workloads));
    let mut paths: Vec<PathBuf> = beside.chain(named).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.dedup();
    paths.truncate(NAMES_MAX);
    let mut texts = 0;
    let read = paths.iter().map(|path| {
        let name = path.strip_prefix(&folder.study).unwrap_or(path).display().to_string();
        let print = if texts < FILES_MAX { fingerprint(path) } else { None };
        texts += usize::from(print.is_some());
        (name, print.unwrap_or_else(|| UNREAD.to_owned()))
    });
    read.collect()
}

/// A file beside the study's file may be configuration, except for the study's file, which is compared key by key, its README, and
/// files that are written while it runs.
fn is_configuration(path: &Path, folder: &StudyFolder) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_result = folder.out == folder.study && OWN.contains(&&*name);
    let is_written = [".log", ".pid", ".part"].iter().any(|end| name.ends_with(end));
    *path != folder.file
        && !name.starts_with('.')
        && name != "README.md"
        && !is_result
        && !is_written
}

/// The paths below, or beside, the study's folder in a variant's commands, and in those of the workloads that it is run under.
fn named(study: &Path, variant: &Variant, workloads: &[Workload]) -> Vec<PathBuf> {
    let begin = format!("{}/", study.display());
    let filling = Placeholders::default()
        .with("study", study.display().to_string())
        .with_values(&variant.values);
    let offered = workloads.iter().filter(|workload| workload.is_for(&variant.name));
    let words = words(variant).chain(offered.flat_map(|workload| &workload.command));
    let paths = words.flat_map(|word| {
        let filled = filling.fill(word);
        let found = filled.match_indices(&begin).map(|(at, _)| {
            let rest = &filled[at + begin.len()..];
            study.join(rest.split(ENDS).next().unwrap_or_default())
        });
        found.collect::<Vec<_>>()
    });
    paths.collect()
}

/// The words of all commands of a variant except for its workloads.
fn words(variant: &Variant) -> impl Iterator<Item = &String> {
    let servers = variant.servers.iter().flat_map(|one| {
        let environment = one.environment.iter().map(|(_, value)| value);
        one.command.iter().chain(&one.version).chain([&one.folder]).chain(environment)
    });
    let around = variant.before.iter().chain(&variant.after).flatten();
    servers.chain(around).chain(&variant.prefix)
}

/// A hash of the file's content; `None` if it is not text, or larger than [`FILE_MAX`].
fn fingerprint(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > FILE_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(FILE_MAX).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    Some(format!("{:016x}", words.fold(bytes.len() as u64, stdx::mix)))
}

/// The files that changed, each with its change.
pub(crate) fn changes(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let (before, now) = (by_name(before), by_name(now));
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    let changes = now.keys().chain(gone).filter_map(|name| {
        let word = change(fingerprint_of(&before, name), fingerprint_of(&now, name))?;
        Some(format!("{name} {word}"))
    });
    changes.collect()
}

fn by_name(files: &[(String, String)]) -> BTreeMap<&str, &str> {
    files.iter().map(|(name, print)| (name.as_str(), print.as_str())).collect()
}

/// A file's fingerprint; `None` if there is no such file. Past [`NAMES_MAX`] it may be a file that was not listed.
fn fingerprint_of<'a>(files: &BTreeMap<&str, &'a str>, name: &str) -> Option<&'a str> {
    let left_out = (files.len() >= NAMES_MAX).then_some(UNREAD);
    files.get(name).copied().or(left_out)
}

/// The change of a file, by its fingerprints before and now; `None` if there is none, or the file was never read.
fn change(before: Option<&str>, now: Option<&str>) -> Option<&'static str> {
    match (before, now) {
        (None | Some(UNREAD), None | Some(UNREAD)) => None,
        (Some(UNREAD), Some(_)) => Some("was not looked at before"),
        (Some(_), Some(UNREAD)) => Some("is no longer looked at"),
        (None, Some(_)) => Some("was added"),
        (Some(_), None) => Some("was removed"),
        (Some(before), Some(now)) => (before != now).then_some("was changed"),
    }
}

/// Changes as a list: the first [`CHANGES_MAX`], and how many more there are.
pub(crate) fn summarize(mut changes: Vec<String>) -> String {
    let more = changes.len().saturating_sub(CHANGES_MAX);
    changes.truncate(CHANGES_MAX);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    changes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{CommandLines, Mode};

    fn files(list: &[(&str, &str)]) -> Fingerprints {
        list.iter().map(|(name, print)| ((*name).to_owned(), (*print).to_owned())).collect()
    }

    #[test]
    fn changes_of_files_are_listed() {
        let before = files(&[("front", "1"), ("gone", "2"), ("same", "3")]);
        let now = files(&[("front", "9"), ("new", "4"), ("same", "3")]);
        let text = summarize(changes(&before, &now));
        assert_eq!(text, "front was changed, new was added, gone was removed");
        assert!(changes(&before, &before).is_empty());
        let many: Fingerprints = (0..15).map(|n| (n.to_string(), "1".to_owned())).collect();
        assert!(summarize(changes(&[], &many)).ends_with(", and 5 more"));
    }

    #[test]
    fn files_that_were_not_read_are_not_gone() {
        let (small, large) = (files(&[("a", "1")]), files(&[("a", UNREAD)]));
        assert_eq!(changes(&small, &large), ["a is no longer looked at"]);
        assert_eq!(changes(&large, &small), ["a was not looked at before"]);
        assert!(changes(&large, &large).is_empty());
        assert!(changes(&large, &[]).is_empty(), "it was never read");
        // Where there are too many, a name that is missing may be one that was left out.
        let many: Fingerprints =
            (0..NAMES_MAX).map(|n| (n.to_string(), UNREAD.to_owned())).collect();
        assert_eq!(changes(&small, &many), ["a is no longer looked at"]);
        assert_eq!(changes(&many, &small), ["a was not looked at before"]);
    }

    #[test]
    fn texts_beside_the_study_and_named_in_it_count() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("configuration");
        let own = root.join("own");
        std::fs::create_dir_all(own.join("deep/er")).unwrap();
        let file = own.join("study.toml");
        let study = "[study]\nname = \"x\"\n[[variant]]\nname = \"v\"\nvalues = { conf = \"{study}/deep/a.conf\" }\n\
             before = [[\"sh\", \"-c\", \"{study}/../front; true\"]]\nafter = [[\"sh\", \"{study}/deep/after\"]]\n\
             prefix = [\"sh\", \"{study}/deep/prefix\"]\n[[variant.server]]\n\
             command = [\"server\", \"--config={conf}\", \"{study}/deep\", \"{study}/none\"]\n\
             folder = \"{study}/deep\"\nversion = [\"sh\", \"{study}/deep/version\"]\n\
             [[workload]]\nname = \"w\"\ncommand = \"bench -targets={study}/deep/er/targets -body {study}/deep/body\"\n";
        let put = |name: &str, text: &[u8]| std::fs::write(own.join(name), text).unwrap();
        put("study.toml", study.as_bytes());
        put("targets.txt", b"GET http://h/");
        put("README.md", b"read me");
        put("x.log", b"1");
        put(".hidden", b"1");
        put("program", b"\0\0");
        put("plan.json", b"{}");
        put("large.txt", &vec![b'x'; FILE_MAX as usize + 1]);
        put("deep/a.conf", b"a");
        put("deep/b.conf", b"b");
        for name in ["after", "body", "er/targets", "prefix", "version"] {
            put(&format!("deep/{name}"), b"x");
        }
        put("../front", b"f");
        let study = crate::file::read(study, Mode::Full, &CommandLines::for_tests()).unwrap();
        let names = |out: &Path| {
            let folder = StudyFolder::open(out, &file).unwrap();
            let files = fingerprints(&folder, &study).into_iter();
            let (texts, others): (Vec<_>, Vec<_>) = files.partition(|(_, print)| print != UNREAD);
            let names =
                |files: Fingerprints| files.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
            assert_eq!(names(others), ["large.txt", "program"]);
            names(texts)
        };
        let mut expected = vec![
            "../front",
            "deep/a.conf",
            "deep/after",
            "deep/body",
            "deep/er/targets",
            "deep/prefix",
            "deep/version",
            "plan.json",
            "targets.txt",
        ];
        assert_eq!(names(&root.join("out")), expected);
        expected.retain(|name| *name != "plan.json");
        assert_eq!(names(&own), expected, "results are none");
        let print = || fingerprint(&own.join("targets.txt")).unwrap();
        let before = print();
        assert_eq!(before, print());
        put("targets.txt", b"GET http://h:1/");
        assert_ne!(before, print());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
