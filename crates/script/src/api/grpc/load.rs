//! Definitions are loaded: .proto files with what they import, and protosets. Each is read and compiled once for all VUs.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ::grpc::{Definitions, MethodSummary, ProtoSource};
use rquickjs::{Ctx, Exception, Result};

use super::client::{ClientHandle, of};
use crate::loader::open::opened;
use crate::runtime::current::vu_of;
use crate::runtime::values::string_of;

/// The most files that one load may bring in.
const FILES_MAX: usize = 1000;

/// Files that were read, and those that the compiler missed.
#[derive(Debug, Default)]
struct Texts {
    known: Mutex<HashMap<String, String>>,
    missing: Mutex<Option<String>>,
}

impl ProtoSource for Texts {
    fn read(&self, name: &str) -> std::result::Result<Option<String>, io::Error> {
        let text = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        // What is built in is asked for here first.
        if text.is_none() && !name.starts_with("google/protobuf/") {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.get_or_insert_with(|| name.to_owned());
        }
        Ok(text)
    }
}

/// `load(importPaths, ...files)`: gives the methods as JSON.
pub(super) fn load<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    import_paths: Vec<String>,
    files: Vec<String>,
) -> Result<String> {
    let key = format!("{import_paths:?} {files:?}");
    once(&ctx, &held, &key, |definitions| {
        let texts = Arc::new(Texts::default());
        let source: Arc<dyn ProtoSource> = Arc::<Texts>::clone(&texts);
        for _ in 0..FILES_MAX {
            let outcome = definitions.load(&files, &source);
            let missing = texts.missing.lock().unwrap_or_else(PoisonError::into_inner).take();
            match (outcome, missing) {
                (Ok(methods), _) => return Ok(methods),
                (Err(_), Some(name)) => {
                    let text = read(&ctx, &import_paths, &name)?;
                    texts.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name, text);
                }
                (Err(error), None) => {
                    return Err(Exception::throw_message(&ctx, &error.to_string()));
                }
            }
        }
        let text = format!("more than {FILES_MAX} files are imported");
        Err(Exception::throw_message(&ctx, &text))
    })
}

/// `loadProtoset(path)`: gives the methods as JSON.
pub(super) fn load_protoset<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    path: String,
) -> Result<String> {
    let path = path.strip_prefix("file://").unwrap_or(&path).to_owned();
    once(&ctx, &held, &format!("protoset {path}"), |definitions| {
        let bytes = match opened(&ctx, &path) {
            Ok(bytes) => bytes,
            Err(rquickjs::Error::Exception) => {
                let text = format!("couldn't open protoset: stat {}", reason(&ctx, &path)?);
                return Err(Exception::throw_message(&ctx, &text));
            }
            Err(error) => return Err(error),
        };
        definitions.load_protoset(&bytes).map_err(|error| {
            let text = format!("couldn't unmarshal protoset file {path}: {error}");
            Exception::throw_message(&ctx, &text)
        })
    })
}

/// Loads what no VU has loaded yet, and gives it to the client.
fn once<'js>(
    ctx: &Ctx<'js>,
    held: &ClientHandle<'js>,
    key: &str,
    load: impl FnOnce(&mut Definitions) -> Result<Vec<MethodSummary>>,
) -> Result<String> {
    let client = of(ctx, held)?;
    let vu = vu_of(ctx)?;
    let store = vu.store(ctx)?;
    let loaded = match store.definitions(key) {
        Some(loaded) => loaded,
        None => {
            let mut definitions = Definitions::default();
            let methods = load(&mut definitions)?;
            let loaded = Arc::new((definitions, json(&methods)));
            store.keep_definitions(key, Arc::clone(&loaded));
            loaded
        }
    };
    client.definitions.borrow_mut().extend(&loaded.0);
    Ok(loaded.1.clone())
}

/// The text of a file, from the first import path that has it.
fn read(ctx: &Ctx<'_>, import_paths: &[String], name: &str) -> Result<String> {
    let mut first = None;
    for folder in import_paths {
        let path = match folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{}/{name}", folder.trim_end_matches('/')),
        };
        match opened(ctx, &path) {
            Ok(bytes) => {
                return String::from_utf8(bytes.to_vec()).map_err(|_| {
                    Exception::throw_message(ctx, &format!("{path}: is no UTF-8 text"))
                });
            }
            Err(rquickjs::Error::Exception) => {
                let reason = reason(ctx, &path)?;
                first.get_or_insert_with(|| format!("stat {reason}"));
            }
            Err(error) => return Err(error),
        }
    }
    let reason = first.unwrap_or_else(|| name.to_owned());
    Err(Exception::throw_message(ctx, &reason))
}

/// Why a file could not be opened, from what was thrown.
fn reason(ctx: &Ctx<'_>, path: &str) -> Result<String> {
    let thrown = ctx.catch();
    // The VUs after the first find no file that it did not find either.
    if vu_of(ctx)?.files.borrow().is_none() {
        return Ok(format!("{path}: no such file or directory"));
    }
    match thrown.as_exception().and_then(Exception::message) {
        Some(text) => Ok(text),
        None => string_of(&thrown),
    }
}

fn json(methods: &[MethodSummary]) -> String {
    let one = |method: &MethodSummary| {
        serde_json::json!({
            "package": method.package,
            "service": method.service,
            "name": method.name,
            "full_method": method.full_method,
            "is_client_stream": method.is_client_stream,
            "is_server_stream": method.is_server_stream,
        })
    };
    serde_json::Value::Array(methods.iter().map(one).collect()).to_string()
}
