//! `Store`: what the VUs of all threads share of a script: its modules compiled, the files it opened, its shared arrays. It is
//! filled while the script is first run; afterwards it is only read.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use stdx::{MemoryShare, OutOfMemory};

use super::builtins::Builtins;
use super::prepare::prepare;
use super::resolve;
use super::source::{Source, SourceError};
use super::source_map::SourcePos;
use crate::loader::files::{Files, Secrets};
use crate::runtime::ffi::Bytecode;

/// One module: its text, and what it was compiled to once it has been.
#[derive(Debug)]
pub(crate) struct ModuleUnit {
    pub(crate) source: Source,
    pub(crate) bytecode: OnceLock<Bytecode>,
}

/// Definitions of gRPC that a script loaded, and their methods as JSON.
pub(crate) type LoadedDefinitions = Arc<(grpc::Definitions, String)>;

/// An array's elements.
pub(crate) type Elements = Arc<SharedElements>;

/// Elements of an array, each as JSON, and the memory that they take.
#[derive(Debug, Default)]
pub(crate) struct SharedElements {
    texts: Vec<Box<str>>,
    /// What those that are there take.
    bytes: usize,
    memory: MemoryShare,
}

/// What an element takes beside its text: where the text is, and what the allocator adds.
const ELEMENT_BYTES: usize = 32;

impl SharedElements {
    /// None yet, with room for so many, but for their texts.
    ///
    /// # Errors
    /// No memory is left.
    pub(crate) fn with_room(count: usize) -> Result<Self, OutOfMemory> {
        let mut made = Self::default();
        made.memory.resize(count.saturating_mul(ELEMENT_BYTES))?;
        made.texts.reserve_exact(count);
        Ok(made)
    }

    /// Adds an element.
    ///
    /// # Errors
    /// No memory is left.
    pub(crate) fn push(&mut self, text: String) -> Result<(), OutOfMemory> {
        self.bytes += text.len() + ELEMENT_BYTES;
        self.memory.resize(self.bytes.max(self.texts.capacity() * ELEMENT_BYTES))?;
        self.texts.push(text.into_boxed_str());
        Ok(())
    }

    /// The element at this place.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        self.texts.get(at).map(|text| &**text)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}

/// What the VUs of all threads share of a script.
pub(crate) struct Store {
    /// The modules that are built in.
    pub(crate) builtins: &'static Builtins,
    units: RwLock<HashMap<String, Arc<ModuleUnit>>>,
    facades: RwLock<HashMap<String, Bytecode>>,
    exports: RwLock<HashMap<String, Vec<String>>>,
    opened: RwLock<HashMap<String, Arc<[u8]>>>,
    arrays: RwLock<HashMap<String, Elements>>,
    /// Definitions of gRPC, by what was loaded, with the methods in them as JSON.
    definitions: RwLock<HashMap<String, LoadedDefinitions>>,
    /// What was warned of, once for all VUs.
    warnings: RwLock<HashMap<String, ()>>,
    /// Where secrets come from, if from anywhere.
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    /// What QuickJS's parser may use of the stack that the program is compiled on.
    pub(crate) parser_stack_bytes: usize,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Why there is no module.
#[derive(Debug)]
pub(crate) enum Missing {
    /// It cannot be read; why.
    Unread(String),
    /// It is no module.
    Wrong(Box<SourceError>),
}

/// A module's text is read up to this length: 64 MiB.
const TEXT_MAX: usize = 64 << 20;

impl Store {
    /// Definitions that were loaded already.
    pub(crate) fn definitions(&self, key: &str) -> Option<LoadedDefinitions> {
        self.definitions.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps definitions for the VUs that load the same.
    pub(crate) fn keep_definitions(&self, key: &str, loaded: LoadedDefinitions) {
        let mut all = self.definitions.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(key.to_owned(), loaded);
    }

    /// One that holds nothing yet.
    pub(crate) fn new(
        builtins: &'static Builtins,
        secrets: Option<Arc<dyn Secrets>>,
        parser_stack_bytes: usize,
    ) -> Self {
        Self {
            builtins,
            units: RwLock::default(),
            facades: RwLock::default(),
            exports: RwLock::default(),
            opened: RwLock::default(),
            arrays: RwLock::default(),
            definitions: RwLock::default(),
            warnings: RwLock::default(),
            secrets,
            parser_stack_bytes,
        }
    }

    /// Whether the full name is that of a text.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        resolve::is_text(self.builtins, name)
    }

    /// Whether the full name is that of a text which is not one of our own libraries.
    pub(crate) fn is_of_script(&self, name: &str) -> bool {
        self.is_text(name) && !self.builtins.has_library(name)
    }

    /// The module of this full name, if it was read before.
    pub(crate) fn known(&self, name: &str) -> Option<Arc<ModuleUnit>> {
        get(&self.units, name)
    }

    /// The module of this full name, read and made ready if it was not before.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub(crate) fn unit(&self, name: &str, files: &dyn Files) -> Result<Arc<ModuleUnit>, Missing> {
        if let Some(unit) = self.known(name) {
            return Ok(unit);
        }
        let bytes = match self.builtins.library(name) {
            Some(text) => text.into_owned().into_bytes(),
            None => files.read(resolve::path_of(name)).map_err(Missing::Unread)?,
        };
        if bytes.len() > TEXT_MAX {
            return Err(Missing::Unread(format!("it is longer than {TEXT_MAX} bytes")));
        }
        let source = prepare(name, &bytes, files).map_err(Missing::Wrong)?;
        let unit = Arc::new(ModuleUnit { source, bytecode: OnceLock::new() });
        put(&self.units, name, Arc::clone(&unit));
        Ok(unit)
    }

    /// The full names of all modules that were read.
    pub(crate) fn known_names(&self) -> Vec<String> {
        let units = self.units.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = units.keys().cloned().collect();
        names.sort();
        names
    }

    /// The full names of all modules that were compiled.
    pub(crate) fn names(&self) -> Vec<String> {
        let units = self.units.read().unwrap_or_else(PoisonError::into_inner);
        let compiled = units.iter().filter(|(_, unit)| unit.bytecode.get().is_some());
        compiled.map(|(name, _)| name.clone()).collect()
    }

    /// What a facade was compiled to.
    pub(crate) fn facade(&self, name: &str) -> Option<Bytecode> {
        get(&self.facades, name)
    }

    /// Keeps what a facade was compiled to.
    pub(crate) fn keep_facade(&self, name: &str, bytecode: Bytecode) {
        put(&self.facades, name, bytecode);
    }

    /// The names that a module exports, if they were learned.
    pub(crate) fn exports(&self, name: &str) -> Option<Vec<String>> {
        get(&self.exports, name)
    }

    /// Keeps the names that a module exports.
    pub(crate) fn keep_exports(&self, name: &str, names: Vec<String>) {
        put(&self.exports, name, names);
    }

    /// What a file held when it was opened.
    pub(crate) fn opened(&self, path: &str) -> Option<Arc<[u8]>> {
        get(&self.opened, path)
    }

    /// Whether this was not warned of before.
    pub(crate) fn is_first_warning(&self, of: &str) -> bool {
        let mut warnings = self.warnings.write().unwrap_or_else(PoisonError::into_inner);
        warnings.insert(of.to_owned(), ()).is_none()
    }

    /// Keeps what a file holds.
    pub(crate) fn keep_opened(&self, path: &str, bytes: Arc<[u8]>) {
        put(&self.opened, path, bytes);
    }

    /// The elements of the array of this name.
    pub(crate) fn array(&self, name: &str) -> Option<Elements> {
        get(&self.arrays, name)
    }

    /// Keeps an array's elements, unless there are some of that name; gives what is kept.
    pub(crate) fn keep_array(&self, name: &str, elements: Elements) -> Elements {
        let mut arrays = self.arrays.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(arrays.entry(name.to_owned()).or_insert(elements))
    }

    /// Where a place of a compiled text comes from, with the line that stands there if it is known.
    pub(crate) fn original(
        &self,
        file: &str,
        line: u32,
        column: u32,
    ) -> (SourcePos, Option<String>) {
        let Some(unit) = self.known(file) else {
            return (SourcePos { file: file.to_owned(), line, column }, None);
        };
        let place = unit.source.places.original(line, column);
        let text = unit.source.places.line(&place).map(str::to_owned);
        (place, text)
    }

    /// The import of a name that a module does not export; both names may be cut.
    pub(crate) fn import_of(&self, name: &str, module: &str) -> Option<MissingExport> {
        let units = self.units.read().unwrap_or_else(PoisonError::into_inner);
        units.iter().find_map(|(own, unit)| {
            let found = unit.source.import_of(self.builtins, own, name, module)?;
            let (place, name, module) = found;
            let line = unit.source.places.line(&place).map(str::to_owned);
            Some(MissingExport { place, line, name, module })
        })
    }
}

/// An import of a name that its module does not export.
#[derive(Debug)]
pub(crate) struct MissingExport {
    pub(crate) place: SourcePos,
    /// The line that stands there.
    pub(crate) line: Option<String>,
    /// What is missing.
    pub(crate) name: String,
    /// The module's full name.
    pub(crate) module: String,
}

fn get<T: Clone>(map: &RwLock<HashMap<String, T>>, key: &str) -> Option<T> {
    map.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

fn put<T>(map: &RwLock<HashMap<String, T>>, key: &str, value: T) {
    map.write().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), value);
}
