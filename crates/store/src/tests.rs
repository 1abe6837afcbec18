//! The store with real folders: what a run leaves, what a killed one leaves, which runs a word stands for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::{Figures, ResponseTimes};
use crate::{Begin, Finish, Run, Scope, Selector, State, Store, StoreError};

/// A store of its own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("brunt-store-{test}-{}", std::process::id()));
        fs::remove_dir_all(&path).ok();
        Self(path)
    }

    fn store(&self) -> Store {
        Store::at(self.0.clone())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn begin(name: &str) -> Begin {
    Begin { name: name.to_owned(), command: "attack".to_owned(), ..Begin::default() }
}

/// A run with results and this 95th percentile; its id.
fn add(store: &Store, name: &str, p95: u64) -> String {
    let mut run = store.begin(begin(name)).unwrap();
    fs::write(run.results("results.arrow").unwrap(), "rows").unwrap();
    run.add_document("report.txt", b"a report\n").unwrap();
    let response_ns = ResponseTimes { p95, ..ResponseTimes::default() };
    run.conclude(Finish {
        verdict: Some("VALID".to_owned()),
        figures: Some(Figures { requests: 10, response_ns, ..Figures::default() }),
        ..Finish::default()
    });
    let id = run.id().to_owned();
    run.finish(0).unwrap();
    id
}

fn ids(runs: &[Run]) -> Vec<&str> {
    runs.iter().map(|run| run.manifest.id.as_str()).collect()
}

#[test]
fn a_run_is_there_from_its_beginning_to_its_end() {
    let folder = Folder::new("life");
    let store = folder.store();
    assert!(store.list().unwrap().runs.is_empty(), "no folder yet");
    let mut run = store.begin(begin("home")).unwrap();
    let id = run.id().to_owned();
    let seen = store.read(&id).unwrap();
    assert_eq!((seen.verdict(), seen.is_under_way), ("running", true));
    assert!(matches!(store.remove(&seen), Err(StoreError::UnderWay { .. })));
    fs::write(run.results("results.arrow").unwrap(), "rows").unwrap();
    run.conclude(Finish { verdict: Some("INVALID".to_owned()), ..Finish::default() });
    run.finish(7).unwrap();
    let seen = store.read(&id).unwrap();
    assert_eq!((seen.verdict(), seen.is_under_way), ("INVALID", false));
    assert_eq!((seen.manifest.exit_code, seen.is_valid()), (Some(7), false));
    assert_eq!(fs::read(seen.results().unwrap()).unwrap(), b"rows");
    drop(store.begin(begin("home")).unwrap());
    let runs = store.list().unwrap().runs;
    assert_eq!((runs.len(), runs[0].verdict()), (2, "failed"), "the newest comes first");
    assert_eq!(runs[0].manifest.results, None, "nothing was written");
}

/// Whatever moment the process is killed at, its folder has a manifest or begins with a dot.
#[test]
fn what_a_killed_process_leaves_is_cut_off_or_swept() {
    let folder = Folder::new("killed");
    let store = folder.store();
    let id = add(&store, "home", 1);
    // As a killed process leaves it: its lock is there, and nothing holds it.
    let path = store.folder().join(&id).join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"finished\"", "\"running\"")).unwrap();
    fs::write(store.folder().join(&id).join("lock"), "").unwrap();
    let half = store.folder().join(".begins-1-0");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("lock"), "").unwrap();
    fs::create_dir(store.folder().join(".gone-x")).unwrap();
    let listing = store.list().unwrap();
    assert_eq!((listing.runs.len(), listing.problems.len()), (1, 0));
    assert_eq!(listing.runs[0].verdict(), "cut off");
    assert_eq!(store.sweep().unwrap(), 2);
    store.remove(&listing.runs[0]).unwrap();
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 0);
}

#[test]
fn folders_that_cannot_be_read_are_named() {
    let folder = Folder::new("problems");
    let store = folder.store();
    let id = add(&store, "home", 1);
    fs::create_dir(store.folder().join("no-manifest")).unwrap();
    fs::create_dir(store.folder().join("newer")).unwrap();
    fs::write(store.folder().join("newer/manifest.json"), "{\"version\": 2}").unwrap();
    fs::create_dir(store.folder().join("odd")).unwrap();
    fs::write(store.folder().join("odd/manifest.json"), "[1").unwrap();
    fs::write(store.folder().join("a file"), "").unwrap();
    let listing = store.list().unwrap();
    assert_eq!(ids(&listing.runs), [&*id]);
    let problems: Vec<&str> = listing.problems.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(problems, ["newer", "no-manifest", "odd"]);
    assert!(listing.problems[0].error.to_string().contains("a newer brunt wrote it"));
}

#[test]
fn words_stand_for_runs() {
    let folder = Folder::new("words");
    let store = folder.store();
    let a = add(&store, "home", 30);
    let b = add(&store, "home", 10);
    let c = add(&store, "search", 20);
    store.change(&a, |run| run.baseline = Some("main".to_owned())).unwrap();
    let find = |word: &str, test, but: &[String]| {
        let found = Selector::parse(word).find(&store, &Scope { test, but });
        found.map(|runs| ids(&runs).join(" ")).map_err(|error| error.to_string())
    };
    let home = Some(("home", "attack"));
    assert_eq!(find("last", None, &[]).unwrap(), c);
    assert_eq!(find("last", home, std::slice::from_ref(&b)).unwrap(), a);
    assert_eq!(find("best", home, &[]).unwrap(), b);
    assert_eq!(find("home", None, &[]).unwrap(), b);
    assert_eq!(find("main", None, &[]).unwrap(), a);
    assert_eq!(find("home@2", Some(("search", "attack")), &[]).unwrap(), format!("{b} {a}"));
    assert_eq!(find("last@9", None, &[]).unwrap(), format!("{c} {b} {a}"));
    assert_eq!(find(&a, None, &[]).unwrap(), a);
    assert!(find(&a[..8], None, &[]).unwrap_err().contains("the beginning of 3 ids"));
    assert!(find("nope", None, &[]).unwrap_err().starts_with("no run is \"nope\" in "));
    assert!(find("git:no-such-branch", None, &[]).unwrap_err().starts_with("git:no-such-branch: "));
}

#[test]
fn names_are_words() {
    let folder = Folder::new("names");
    for name in ["", "-x", ".x", "a b", "http://x", "a/b", "last\n", &"x".repeat(81)] {
        let refused = folder.store().begin(begin(name));
        assert!(matches!(refused, Err(StoreError::Name { .. })), "{name:?}");
    }
    assert!(!folder.0.exists(), "nothing was made");
    assert!(folder.store().begin(begin("häuser-1.2_x")).is_ok());
}

#[test]
fn an_export_comes_back_whole() {
    let (from, to) = (Folder::new("export"), Folder::new("import"));
    let id = add(&from.store(), "home", 30);
    let run = from.store().read(&id).unwrap();
    let file = from.0.join("run.tar.gz");
    run.export(&file, fs::File::create(&file).unwrap()).unwrap();
    let came = to.store().import(&file).unwrap();
    // The same run twice would count as two measurements.
    let again = to.store().import(&file).unwrap_err().to_string();
    assert!(again.ends_with("is in the store already"), "{again}");
    assert_eq!(came.manifest.figures, run.manifest.figures);
    assert_eq!(fs::read(came.folder.join("results.arrow")).unwrap(), b"rows");
    assert_eq!(fs::read(came.folder.join("report.txt")).unwrap(), b"a report\n");
    assert_eq!(to.store().list().unwrap().runs.len(), 1);
    // Another run that has its id gets one of its own.
    to.store()
        .change(&id, |manifest| manifest.started = "2020-01-01T00:00:00.000Z".into())
        .unwrap();
    let other = to.store().import(&file).unwrap();
    assert_ne!(other.manifest.id, id);
    // What servers answered is for the owner alone.
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&came.folder.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
}

/// A run may come from elsewhere: neither its id nor its files lead out of its folder.
#[test]
fn no_manifest_leads_out_of_the_store() {
    let folder = Folder::new("outside");
    let store = folder.store();
    let id = add(&store, "home", 1);
    for asked in ["..", "../outside", "/etc", "", ".", "a/b"] {
        assert!(matches!(store.read(asked), Err(StoreError::Name { .. })), "{asked:?}");
    }
    let path = folder.0.join(&id).join("manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    for name in ["../x", "/etc/passwd", "a/b", "a\\\\b", ".lock", "", "a\\u0000"] {
        for field in ["\"report.txt\"", "\"results.arrow\""] {
            assert!(whole.contains(field), "{whole}");
            fs::write(&path, whole.replace(field, &format!("\"{name}\""))).unwrap();
            assert!(matches!(store.read(&id), Err(StoreError::Name { .. })), "{field} {name:?}");
        }
    }
}

/// A hostile archive writes nothing outside, and leaves nothing behind.
#[test]
fn an_archive_of_anything_else_is_refused() {
    let folder = Folder::new("hostile");
    let store = folder.store();
    fs::create_dir_all(&folder.0).unwrap();
    let archive = |files: &[(&str, &[u8], tar::EntryType)]| {
        let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(
            Vec::new(),
            flate2::Compression::fast(),
        ));
        for (name, bytes, kind) in files {
            let mut header = tar::Header::new_gnu();
            // `set_path` refuses what a hostile archive has.
            let field = &mut header.as_gnu_mut().unwrap().name;
            field[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(bytes.len() as u64);
            header.set_entry_type(*kind);
            header.set_cksum();
            tar.append(&header, *bytes).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    };
    let regular = tar::EntryType::Regular;
    let manifest: (&str, &[u8], _) = (
        "x/manifest.json",
        b"{\"version\":1,\"id\":\"x\",\"name\":\"a\",\"state\":\"finished\"}",
        regular,
    );
    // A long name for the next entry is read into memory, however long it is.
    let long = vec![b'x'; 4 << 20];
    let odd: [&[(&str, &[u8], _)]; 9] = [
        &[("././@LongLink", &long, tar::EntryType::GNULongName), manifest],
        &[manifest, ("././@LongLink", &long, tar::EntryType::GNULongName), ("x/a", b"x", regular)],
        &[],
        &[("x/report.txt", b"x", regular)],
        &[manifest, ("x/../../evil", b"x", regular)],
        &[manifest, ("/tmp/evil", b"x", regular)],
        &[manifest, ("x/link", b"", tar::EntryType::Symlink)],
        &[manifest, ("x/.hidden", b"x", regular)],
        &[manifest, ("x/manifest.json", b"x", regular), ("x/manifest.json", b"x", regular)],
    ];
    for files in odd {
        let path = folder.0.join("evil.tar.gz");
        fs::write(&path, archive(files)).unwrap();
        assert!(store.import(&path).is_err(), "{files:?}");
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "{files:?}");
    }
    let path = folder.0.join("no.tar.gz");
    fs::write(&path, b"\x1f\x8bnothing").unwrap();
    assert!(store.import(&path).is_err());
    assert!(!Path::new("/tmp/evil").exists());
}

/// The bound is 200 ms for 10,000 runs in a release build; here the count alone is checked.
#[test]
fn many_runs_are_listed() {
    let folder = Folder::new("many");
    let store = folder.store();
    let id = add(&store, "home", 1);
    let text = fs::read(store.folder().join(&id).join("manifest.json")).unwrap();
    for n in 0..600 {
        let copy = store.folder().join(format!("20250101-000000-{n:04x}"));
        fs::create_dir(&copy).unwrap();
        fs::write(copy.join("manifest.json"), &text).unwrap();
    }
    let listing = store.list().unwrap();
    assert_eq!((listing.runs.len(), listing.problems.len()), (601, 0));
    assert!(listing.runs.iter().all(|run| run.manifest.state == State::Finished));
}
