//! Runs the tests of the build script's parts, which cargo does not run by itself.

mod additions;
mod published;
mod sha256;
mod splice;

/// The build has added the lines to the same sources; the test says which addition is wrong without a build.
#[test]
fn every_addition_has_its_place() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
    let sources = published::Sources::read(&published::find(&here).unwrap()).unwrap();
    let with_additions = |name: &str| {
        let text = sources.get(&format!("quickjs/{name}")).unwrap();
        splice::apply(text, additions::of(name).unwrap()).unwrap()
    };
    assert!(with_additions("libunicode.c").contains("j - start < 1024"));
    let added = with_additions("quickjs.c");
    for name in ["fibers.h", "fibers.c", "json.c"] {
        assert_eq!(added.matches(&format!("#include \"{name}\"")).count(), 1, "{name}");
    }
}
