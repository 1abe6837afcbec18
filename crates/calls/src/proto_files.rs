//! `ProtoFiles`: .proto files below folders, as the compiler asks for them.

use std::io;
use std::path::{Path, PathBuf};

use grpc::ProtoSource;

/// .proto files below folders; the first folder that has a file counts.
pub(crate) struct ProtoFiles {
    folders: Vec<PathBuf>,
}

impl ProtoFiles {
    /// Files below the folders that are given, then below those of the named files, then here.
    pub(crate) fn new(import_paths: &[String], files: &[String]) -> Self {
        let given = import_paths.iter().map(PathBuf::from);
        let own = files.iter().filter_map(|file| Path::new(file).parent().map(Path::to_path_buf));
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in given.chain(own).chain([PathBuf::from(".")]) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self { folders }
    }

    /// The name of a file as others import it: from the folder that it lies below.
    pub(crate) fn import_name(&self, file: &str) -> String {
        let path = Path::new(file);
        let below = self.folders.iter().find_map(|folder| {
            let rest = path.strip_prefix(folder).ok()?;
            folder.join(rest).exists().then(|| rest.to_string_lossy().into_owned())
        });
        below.unwrap_or_else(|| file.to_owned())
    }
}

impl ProtoSource for ProtoFiles {
    fn read(&self, name: &str) -> Result<Option<String>, io::Error> {
        for folder in &self.folders {
            match std::fs::read_to_string(folder.join(name)) {
                Ok(text) => return Ok(Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_their_folders() {
        let here = env!("CARGO_MANIFEST_DIR");
        let file = format!("{here}/src/lib.rs");
        let check = |paths: &[String], expect: &str| {
            let files = ProtoFiles::new(paths, std::slice::from_ref(&file));
            assert_eq!(files.import_name(&file), expect);
        };
        check(&[], "lib.rs");
        check(&[here.to_owned()], "src/lib.rs");
        let files = ProtoFiles::new(&[], &[file]);
        assert!(files.read("lib.rs").expect("it is there").is_some());
        assert!(files.read("none.rs").expect("no error").is_none());
    }
}
