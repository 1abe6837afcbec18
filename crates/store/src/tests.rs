//! The store with real folders: what a run leaves, what a killed one leaves, which runs a word stands for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::{Figures, Manifest, ResponseTimes};
use crate::{Begin, Finish, Run, Scope, Selector, State, Store, StoreError};

/// A store of its own, which goes with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = tempfile::Builder::new()
            .prefix(&format!("brunt-store-{test}-"))
            .tempdir()
            .unwrap()
            .keep();
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

/// Imported runs began when they were imported, so that trends had them in the wrong order.
#[test]
fn issue_39_a_run_made_before_keeps_its_time() {
    let folder = Folder::new("made");
    let store = folder.store();
    let now = add(&store, "home", 1);
    let made = Some((1_000_000_000_250_999_999, 1_000_000_010_000_000_000));
    let run = store.begin(Begin { made, ..begin("home") }).unwrap();
    let id = run.id().to_owned();
    run.finish(0).unwrap();
    let manifest = store.read(&id).unwrap().manifest;
    assert_eq!(manifest.started, "2001-09-09T01:46:40.250Z");
    assert_eq!(manifest.ended.as_deref(), Some("2001-09-09T01:46:50.000Z"));
    let runs = store.list().unwrap().runs;
    assert_eq!(ids(&runs), [now, id], "newest first");
}

/// Manifests of versions that did not keep what was attacked and how the server came out.
#[test]
fn manifests_of_older_versions_are_read() {
    let text = br#"{"version":1,"id":"20261124-061512-0a1b","name":"home","command":"attack","state":"finished","verdict":"VALID"}"#;
    let manifest = Manifest::parse(Path::new("manifest.json"), text).unwrap();
    assert_eq!((manifest.attacked, manifest.server), (None, None));
    assert_eq!(manifest.verdict.as_deref(), Some("VALID"));
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
    assert_eq!(fs::read(seen.results().unwrap().unwrap()).unwrap(), b"rows");
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
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let half = store.folder().join(format!(".begins-{}-0", ended.id()));
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
            assert!(matches!(store.read(&id), Err(StoreError::Field { .. })), "{field} {name:?}");
        }
    }
}

/// An archive of these files.
fn archive(files: &[(&str, &[u8], tar::EntryType)]) -> Vec<u8> {
    let mut tar =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
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
}

/// A hostile archive writes nothing outside, and leaves nothing behind.
#[test]
fn an_archive_of_anything_else_is_refused() {
    let folder = Folder::new("hostile");
    let store = folder.store();
    fs::create_dir_all(&folder.0).unwrap();
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

/// A link in a run's folder was followed, out of the store, and an export left it out without a word.
#[test]
fn issue_19_files_of_a_run_are_regular_files_of_its_folder() {
    let folder = Folder::new("links");
    let store = folder.store();
    let id = add(&store, "home", 1);
    let (run, own) = (store.read(&id).unwrap(), folder.0.join(&id));
    let (report, results) = (own.join("report.txt"), own.join("results.arrow"));
    fs::write(folder.0.join("outside"), "secret").unwrap();
    let archive = folder.0.join("run.tar.gz");
    let refusals = || {
        let document = run.document("report.txt").unwrap_err().to_string();
        let results = run.results().unwrap_err().to_string();
        let export = run.export(&archive, Vec::new()).unwrap_err().to_string();
        [document, results, export]
    };
    type Plant = fn(&Path);
    let plants: [(&str, Plant); 3] = [
        ("a symbolic link", |path| {
            std::os::unix::fs::symlink("../outside", path).unwrap();
        }),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a pipe or a device", |path| {
            // It has no writer: opened like a file, it would be waited for without end.
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }),
    ];
    for (found, plant) in plants {
        for path in [&report, &results] {
            fs::remove_file(path).or_else(|_| fs::remove_dir(path)).unwrap();
            plant(path);
        }
        for (refusal, path) in refusals().iter().zip([Some(&report), Some(&results), None]) {
            let words = format!(": it is {found}, and a run has regular files of its own folder");
            assert!(refusal.contains(&words), "{refusal}");
            let named = path.unwrap_or(&own).display().to_string();
            assert!(refusal.starts_with(&named), "{refusal}");
        }
    }
    assert_eq!(run.document("report.html").unwrap(), None, "the manifest names none");
    // Nor is a run's folder elsewhere.
    std::os::unix::fs::symlink(&own, folder.0.join("link")).unwrap();
    assert!(matches!(store.read("link"), Err(StoreError::Foreign { .. })));
}

/// A pipe as manifest or lock stopped every list, and a manifest of gigabytes was read as a whole.
#[test]
fn issue_19_no_manifest_stops_a_list_or_fills_memory() {
    let folder = Folder::new("huge");
    let store = folder.store();
    let id = add(&store, "home", 1);
    let other = |name: &str| {
        let own = folder.0.join(name);
        fs::create_dir(&own).unwrap();
        own.join("manifest.json")
    };
    let pipe = |path: &Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let sparse = |path: &Path| fs::File::create(path).unwrap().set_len(3 << 30).unwrap();
    sparse(&other("a-huge"));
    std::os::unix::fs::symlink(folder.0.join(&id).join("manifest.json"), other("b-link")).unwrap();
    pipe(&other("c-pipe"));
    let running = other("d-lock");
    fs::write(&running, "{\"state\":\"running\"}").unwrap();
    pipe(&running.with_file_name("lock"));
    let listing = store.list().unwrap();
    let problems = listing.problems.iter().map(|one| one.error.to_string()).collect::<Vec<_>>();
    let expect = [
        "a-huge/manifest.json: it is larger than 16 MiB",
        "b-link/manifest.json: it is a symbolic link, and a run has regular files of its own folder alone",
        "c-pipe/manifest.json: it is a pipe or a device, and a run has regular files of its own folder alone",
    ];
    assert_eq!(problems.len(), expect.len(), "{problems:?}");
    for (problem, expect) in problems.iter().zip(expect) {
        assert!(problem.ends_with(expect), "{problem}");
    }
    assert_eq!(listing.runs.len(), 2, "the others are listed");
    assert_eq!(listing.runs[1].verdict(), "cut off", "a pipe is no lock");
    sparse(&folder.0.join(&id).join("report.txt"));
    let refused = store.read(&id).unwrap().document("report.txt").unwrap_err().to_string();
    assert!(refused.ends_with("report.txt: it is larger than 64 MiB"), "{refused}");
}

/// The message named neither the file nor the field, as if the command line were wrong.
#[test]
fn issue_19_a_wrong_field_of_a_manifest_is_named() {
    let folder = Folder::new("fields");
    let store = folder.store();
    fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("run.tar.gz");
    let huge = format!("\"name\":\"{}/\"", "x".repeat(1 << 20));
    for (fields, words) in [
        ("", "the field \"name\" of the manifest has \"\": it is to be 1 to 80 letters"),
        ("\"name\":\"a\",\"id\":\"../b\"", "the field \"id\" of the manifest has \"../b\": "),
        (
            "\"results\":\"../x.arrow\"",
            "the field \"results\" of the manifest has \"../x.arrow\": it is to be the name of a file in the run's folder",
        ),
        ("\"documents\":[\"a\",\".b\"]", "the field \"documents\" of the manifest has \".b\": "),
        (&huge, "the field \"name\" of the manifest has \"xxx"),
    ] {
        let text = format!("{{{fields}}}");
        let regular = tar::EntryType::Regular;
        fs::write(&path, archive(&[("x/manifest.json", text.as_bytes(), regular)])).unwrap();
        let refused = store.import(&path).unwrap_err();
        assert!(matches!(refused, StoreError::Field { .. }), "{refused}");
        let refused = refused.to_string();
        assert!(refused.starts_with(&format!("{}: {words}", path.display())), "{refused}");
        assert!(refused.len() < 500, "{} bytes", refused.len());
    }
}

/// The issue's bound is 200 ms for 10,000 runs in a release build; here the count alone is checked.
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
