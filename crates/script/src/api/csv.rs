//! Module `k6/experimental/csv`: RFC 4180 with a separator of one's choice; `parse` for all at once, held once by the process,
//! and `Parser` for a row at a time.

use std::cell::RefCell;
use std::sync::Arc;

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use serde_json::json;
use stdx::OutOfMemory;

use super::data::{handle, held_beside, keep, maker};
use super::fs;
use super::js_builtins::{declare_all, export_all, js_builtin};
use crate::host::execution::Stage;
use crate::loader::store::SharedElements;
use crate::runtime::current::vu_of;
use crate::runtime::ffi::OpaqueHandle;
use crate::runtime::values::string_of;

/// The module.
pub(super) struct Csv;

const NAMES: [&str; 2] = ["parse", "Parser"];

impl ModuleDef for Csv {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let native = Object::new(ctx.clone())?;
        native.set("make", maker(ctx)?)?;
        native.set("all", Function::new(ctx.clone(), all)?)?;
        native.set("begin", Function::new(ctx.clone(), begin)?)?;
        native.set("next", Function::new(ctx.clone(), next)?)?;
        let text = "(function ({ make, all, begin, next }) {
            class Parser {
                #rows;
                constructor(file, options = {}) { this.#rows = begin(file, options); }
                async next() { const value = next(this.#rows); return value === undefined ? { done: true, value: undefined } : { done: false, value }; }
            }
            return { parse: async (file, options = {}) => make(...all(file, options)), Parser };
        })";
        let module: Object<'js> = js_builtin(ctx, "csv", text, native)?;
        export_all(exports, &module, &NAMES)
    }
}

/// What a script wants of a file.
#[derive(Clone, Debug, Default)]
struct Wants {
    delimiter: u8,
    skip_first: bool,
    from: usize,
    to: Option<usize>,
    as_objects: bool,
}

/// A file's rows, a row at a time.
struct Rows {
    bytes: Arc<[u8]>,
    at: usize,
    line: usize,
    wants: Wants,
    header: Option<Vec<String>>,
}

impl Rows {
    fn new(bytes: Arc<[u8]>, wants: Wants) -> Self {
        let mut rows = Self { bytes, at: 0, line: 0, wants, header: None };
        if rows.wants.as_objects {
            rows.header = rows.raw();
            rows.line += 1;
        } else if rows.wants.skip_first {
            rows.raw();
            rows.line += 1;
        }
        rows
    }

    /// The next row that is wanted.
    fn next(&mut self) -> Option<serde_json::Value> {
        loop {
            if self.wants.to.is_some_and(|to| self.line > to) {
                return None;
            }
            let row = self.raw()?;
            self.line += 1;
            if self.line <= self.wants.from {
                continue;
            }
            return Some(match &self.header {
                Some(names) => {
                    names.iter().cloned().zip(row.into_iter().map(|v| json!(v))).collect()
                }
                None => json!(row),
            });
        }
    }

    /// The next row as it is; empty lines are passed over.
    fn raw(&mut self) -> Option<Vec<String>> {
        while matches!(self.bytes.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
        self.bytes.get(self.at)?;
        let mut row = Vec::new();
        loop {
            row.push(self.field());
            match self.bytes.get(self.at) {
                Some(byte) if *byte == self.wants.delimiter => self.at += 1,
                _ => return Some(row),
            }
        }
    }

    /// One field; what follows it is its delimiter or the line's end.
    fn field(&mut self) -> String {
        let mut text = Vec::new();
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            while let Some(byte) = self.bytes.get(self.at) {
                self.at += 1;
                if *byte != b'"' {
                    text.push(*byte);
                } else if self.bytes.get(self.at) == Some(&b'"') {
                    text.push(b'"');
                    self.at += 1;
                } else {
                    break;
                }
            }
        }
        while let Some(byte) = self.bytes.get(self.at) {
            if *byte == self.wants.delimiter || matches!(byte, b'\n' | b'\r') {
                break;
            }
            text.push(*byte);
            self.at += 1;
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// The rows of a file of `k6/experimental/fs`.
fn rows<'js>(ctx: &Ctx<'js>, file: &Value<'js>, options: &Object<'js>) -> Result<(Rows, String)> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    if vu_of(ctx)?.stage.get() != Stage::Init {
        return Err(throw("csv parsers can only be made in the init context"));
    }
    let bytes =
        fs::bytes_of(file)?.ok_or_else(|| throw("csv wants a file of k6/experimental/fs"))?;
    let delimiter: Value<'js> = options.get("delimiter")?;
    let delimiter = if delimiter.is_undefined() { ",".to_owned() } else { string_of(&delimiter)? };
    let [delimiter] = delimiter.as_bytes() else {
        return Err(throw("the delimiter is a single character"));
    };
    let number = |name: &str| -> Result<Option<usize>> { options.get(name) };
    let flag = |name: &str| -> Result<bool> {
        Ok(options.get::<_, Option<bool>>(name)?.unwrap_or_default())
    };
    let wants = Wants {
        delimiter: *delimiter,
        skip_first: flag("skipFirstLine")?,
        from: number("fromLine")?.unwrap_or_default(),
        to: number("toLine")?,
        as_objects: flag("asObjects")?,
    };
    if wants.to.is_some_and(|to| to < wants.from) {
        return Err(throw("the options fromLine and toLine are the wrong way round"));
    }
    let key = format!("\u{1}csv {:p} {wants:?}", Arc::as_ptr(&bytes));
    Ok((Rows::new(bytes, wants), key))
}

/// All rows, each as JSON.
fn elements(ctx: &Ctx<'_>, rows: &mut Rows) -> Result<SharedElements> {
    let _beside = held_beside(ctx);
    let throw = |error: OutOfMemory| Exception::throw_message(ctx, &format!("csv: {error}"));
    let mut elements = SharedElements::default();
    while let Some(row) = rows.next() {
        elements.push(row.to_string()).map_err(throw)?;
    }
    Ok(elements)
}

/// All rows, as what a `SharedArray` is made from.
fn all<'js>(
    ctx: Ctx<'js>,
    file: Value<'js>,
    options: Object<'js>,
) -> Result<rquickjs::convert::List<(Class<'js, OpaqueHandle>, usize)>> {
    let (mut rows, key) = rows(&ctx, &file, &options)?;
    let vu = vu_of(&ctx)?;
    let store = vu.store(&ctx)?;
    let elements = match store.array(&key) {
        Some(elements) => elements,
        None => {
            let elements = elements(&ctx, &mut rows)?;
            keep(&ctx, store, &key, elements)
        }
    };
    handle(&ctx, elements)
}

fn begin<'js>(
    ctx: Ctx<'js>,
    file: Value<'js>,
    options: Object<'js>,
) -> Result<Class<'js, OpaqueHandle>> {
    let (rows, _) = rows(&ctx, &file, &options)?;
    Class::instance(ctx, OpaqueHandle::of(RefCell::new(rows)))
}

fn next<'js>(ctx: Ctx<'js>, handle: Class<'js, OpaqueHandle>) -> Result<Value<'js>> {
    let handle = handle.borrow();
    let rows = handle.0.downcast_ref::<RefCell<Rows>>();
    match rows.and_then(|rows| rows.borrow_mut().next()) {
        Some(row) => ctx.json_parse(row.to_string()),
        None => Ok(Value::new_undefined(ctx)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, wants: Wants) -> String {
        let mut rows = Rows::new(text.as_bytes().into(), wants);
        let all: Vec<_> = std::iter::from_fn(|| rows.next()).collect();
        json!(all).to_string()
    }

    #[test]
    fn rows_are_read_as_rfc_4180_has_them() {
        let wants = || Wants { delimiter: b',', ..Wants::default() };
        for (text, expect) in [
            ("a,b\r\nc,\"d,\"\"e\"\"\nf\"\n", r#"[["a","b"],["c","d,\"e\"\nf"]]"#),
            ("a,\n\n,b", r#"[["a",""],["","b"]]"#),
            ("\"open", r#"[["open"]]"#),
            ("", "[]"),
        ] {
            assert_eq!(read(text, wants()), expect, "{text}");
        }
        let text = "h,i\n1,2\n3,4\n5,6\n";
        assert_eq!(
            read(text, Wants { skip_first: true, ..wants() }),
            r#"[["1","2"],["3","4"],["5","6"]]"#
        );
        assert_eq!(
            read(text, Wants { as_objects: true, ..wants() }),
            r#"[{"h":"1","i":"2"},{"h":"3","i":"4"},{"h":"5","i":"6"}]"#
        );
    }
}
