//! Where methods and messages are known from: .proto files, a protoset, or the server's reflection.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use cli::input;
use engine::Settings;
use grpc::{Definitions, ProtoSource};

use crate::proto_files::ProtoFiles;
use crate::server::Server;

/// Where methods and messages are known from. Without files it is the server's reflection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionSource {
    /// .proto files.
    pub protos: Vec<String>,
    /// Folders that they, and what they import, lie below.
    pub import_paths: Vec<String>,
    /// Files with a serialised `FileDescriptorSet`.
    pub protosets: Vec<String>,
    /// Metadata of reflection.
    pub reflect_metadata: Vec<(String, String)>,
}

impl DefinitionSource {
    /// Whether the server is asked.
    #[must_use]
    pub const fn is_reflection(&self) -> bool {
        self.protos.is_empty() && self.protosets.is_empty()
    }

    /// The definitions that files have; none where the server is asked.
    ///
    /// # Errors
    /// A file cannot be read, or is wrong.
    pub fn of_files(&self) -> Result<Definitions> {
        let mut definitions = Definitions::default();
        for path in &self.protosets {
            let bytes = input::read_whole(path).map_err(|failed| anyhow!("{failed}"))?;
            definitions.load_protoset(&bytes).with_context(|| format!("protoset {path}"))?;
        }
        if !self.protos.is_empty() {
            let files = ProtoFiles::new(&self.import_paths, &self.protos);
            let names: Vec<_> = self.protos.iter().map(|file| files.import_name(file)).collect();
            let source: Arc<dyn ProtoSource> = Arc::new(files);
            definitions.load(&names, &source)?;
        }
        Ok(definitions)
    }
}

/// The definitions of a source; the server is asked with these settings.
///
/// # Errors
/// A file is wrong, or the server does not describe itself.
pub fn load(
    source: &DefinitionSource,
    server: &Server,
    settings: &Settings,
) -> Result<Definitions> {
    match source.is_reflection() {
        true => server.definitions(&source.reflect_metadata, settings),
        false => source.of_files(),
    }
}
