//! The files that a study is made of beside its own: what servers and commands are configured with. A study that goes on tells
//! which of them are others than before; it does not refuse, since what they mean is not known here.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::file::{Filling, Study, Variant};
use super::folder::{Folder, OWN};

/// Bytes of a file that is looked at, at most.
const FILE_MAX: u64 = 1 << 20;
/// Files that are looked at, at most.
const FILES_MAX: usize = 200;
/// The same of those of which some turn out to be no texts.
const LOOKED_AT_MAX: usize = 5 * FILES_MAX;
/// Changes that are told in a sentence, at most.
const CHANGES_MAX: usize = 10;
/// Ranges of runs that are told, at most.
const RANGES_MAX: usize = 10;
/// Characters at which a path in a command ends: words may hold several, as those of a shell do.
const ENDS: [char; 9] = [' ', '\t', '\n', '\'', '"', ':', ',', ';', '&'];

/// Files by name, relative to the study's folder, each with a number that is another one for other contents.
pub(super) type Files = Vec<(String, String)>;

/// The texts beside the study's file, and those that its variants' commands name by `{study}/…`.
pub(super) fn files(folder: &Folder, study: &Study) -> Files {
    let beside = std::fs::read_dir(&folder.study).into_iter().flatten().flatten();
    let beside = beside.map(|entry| entry.path()).filter(|path| is_of_study(path, folder));
    let named = study.variants.iter().flat_map(|variant| named(&folder.study, variant));
    let mut paths: Vec<PathBuf> = beside.chain(named).collect();
    paths.sort();
    paths.dedup();
    paths.truncate(LOOKED_AT_MAX);
    let read = paths.into_iter().filter_map(|path| {
        let name = path.strip_prefix(&folder.study).unwrap_or(&path).display().to_string();
        Some((name, fingerprint(&path)?))
    });
    read.take(FILES_MAX).collect()
}

/// What lies beside the study's file may configure it: not the file itself, which is compared key by key, nor what is told of
/// it, nor what is written meanwhile.
fn is_of_study(path: &Path, folder: &Folder) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_result = folder.out == folder.study && OWN.contains(&&*name);
    let is_written = [".log", ".pid", ".part"].iter().any(|end| name.ends_with(end));
    *path != folder.file
        && !name.starts_with('.')
        && name != "README.md"
        && !is_result
        && !is_written
}

/// The paths below, or beside, the study's folder in a variant's commands.
fn named(study: &Path, variant: &Variant) -> Vec<PathBuf> {
    let begin = format!("{}/", study.display());
    let filling =
        Filling::default().with("study", study.display().to_string()).with_values(&variant.values);
    let servers = variant.servers.iter();
    let words = servers
        .flat_map(|one| one.command.iter().chain(one.environment.iter().map(|(_, value)| value)));
    let words = words.chain(variant.before.iter().flatten());
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

/// `None` where it is no text, or too large to be looked at.
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

/// In what the files differ, in a sentence that ends with the runs made before; `None` where they do not.
pub(super) fn changed(before: &Files, now: &Files, made: &[usize]) -> Option<String> {
    let of = |files: &Files, name: &str| {
        files.iter().find(|(known, _)| known == name).map(|(_, print)| print.clone())
    };
    let here = now.iter().filter_map(|(name, print)| match of(before, name) {
        None => Some(format!("{name} was added")),
        Some(was) if was != *print => Some(format!("{name} was changed")),
        Some(_) => None,
    });
    let gone = before.iter().filter(|(name, _)| of(now, name).is_none());
    let mut parts: Vec<String> =
        here.chain(gone.map(|(name, _)| format!("{name} was removed"))).collect();
    let more = parts.len().saturating_sub(CHANGES_MAX);
    parts.truncate(CHANGES_MAX);
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    if parts.is_empty() || made.is_empty() {
        return None;
    }
    // Runs that failed are made again, after some that come later.
    let whole = made.iter().copied().eq(1..=made.len());
    let runs = if whole { format!("run {}", made.len()) } else { format!("runs {}", ranges(made)) };
    Some(format!("{} after {runs}", parts.join(", ")))
}

/// Ascending numbers: `1 to 4, 6`.
pub(super) fn ranges(numbers: &[usize]) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let shown = found.iter().take(RANGES_MAX).map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    let more = if found.len() > RANGES_MAX { " and more" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter().map(|(name, print)| ((*name).to_owned(), (*print).to_owned())).collect()
    }

    #[test]
    fn changes_are_told_with_the_runs_before_them() {
        let before = files(&[("front", "1"), ("gone", "2"), ("same", "3")]);
        let now = files(&[("front", "9"), ("new", "4"), ("same", "3")]);
        let told = changed(&before, &now, &[1, 2, 3]).unwrap();
        assert_eq!(told, "front was changed, new was added, gone was removed after run 3");
        let told = changed(&before, &now, &[1, 3, 4]).unwrap();
        assert!(told.ends_with("after runs 1, 3 to 4"), "{told}");
        assert_eq!(changed(&before, &before, &[1]), None);
        assert_eq!(changed(&before, &now, &[]), None, "nothing was made before");
        let many: Files = (0..15).map(|n| (n.to_string(), String::new())).collect();
        assert!(changed(&Files::new(), &many, &[1]).unwrap().ends_with("and 5 more after run 1"));
    }

    #[test]
    fn numbers_are_told_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1 to 3, 5, 7 to 8");
        assert_eq!(ranges(&[]), "");
        let odd: Vec<usize> = (0..30).map(|n| 2 * n).collect();
        assert!(ranges(&odd).ends_with("16, 18 and more"));
    }

    #[test]
    fn texts_beside_the_study_and_named_in_it_count() {
        let root = std::env::temp_dir().join(format!("brunt-configuration-{}", std::process::id()));
        let own = root.join("own");
        std::fs::create_dir_all(own.join("deep")).unwrap();
        let file = own.join("study.toml");
        let study = "[study]\nname = \"x\"\n[[variant]]\nname = \"v\"\nvalues = { conf = \"{study}/deep/a.conf\" }\n\
             before = [[\"sh\", \"-c\", \"{study}/../front; true\"]]\n[[variant.server]]\n\
             command = [\"server\", \"--config={conf}\", \"{study}/deep\", \"{study}/none\"]\n\
             [[workload]]\nname = \"w\"\ncommand = \"bench http://h/\"\n";
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
        put("../front", b"f");
        let study = super::super::file::read(study, super::super::file::Mode::Full).unwrap();
        let names = |out: &Path| {
            let folder = Folder::open(out, &file).unwrap();
            let files = super::files(&folder, &study);
            files.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let expected = ["../front", "deep/a.conf", "plan.json", "targets.txt"];
        assert_eq!(names(&root.join("out")), expected);
        assert_eq!(names(&own), ["../front", "deep/a.conf", "targets.txt"], "results are none");
        let print = || fingerprint(&own.join("targets.txt")).unwrap();
        let before = print();
        assert_eq!(before, print());
        put("targets.txt", b"GET http://h:1/");
        assert_ne!(before, print());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
