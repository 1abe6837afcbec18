//! Module `k6/experimental/csv`: RFC 4180 with a separator of one's choice; `parse` for all at once, held once by the process,
//! and `Parser` for a row at a time. A file that is malformed is an error: its rows would be others than those that were meant.

use std::cell::RefCell;
use std::sync::Arc;

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use serde_json::json;
use stdx::OutOfMemory;
use users::Stage;

use super::data::{handle, held_beside, keep, maker};
use super::fs;
use super::js_builtins::{declare_all, export_all, js_builtin};
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
    /// The fields of the first row, which all others have as well.
    fields: Option<usize>,
}

/// What is wrong with a file, and on which of its lines.
type Read<T> = std::result::Result<T, String>;

impl Rows {
    fn new(bytes: Arc<[u8]>, wants: Wants) -> Read<Self> {
        // The mark of Excel and of Windows' editors is no part of the first field.
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut rows = Self { bytes, at, line: 0, wants, header: None, fields: None };
        if rows.wants.as_objects {
            rows.header = rows.raw()?;
            rows.line += 1;
        } else if rows.wants.skip_first {
            rows.raw()?;
            rows.line += 1;
        }
        Ok(rows)
    }

    /// The next row that is wanted.
    fn next(&mut self) -> Read<Option<serde_json::Value>> {
        loop {
            if self.wants.to.is_some_and(|to| self.line > to) {
                return Ok(None);
            }
            let Some(row) = self.raw()? else { return Ok(None) };
            self.line += 1;
            if self.line <= self.wants.from {
                continue;
            }
            return Ok(Some(match &self.header {
                Some(names) => {
                    names.iter().cloned().zip(row.into_iter().map(|v| json!(v))).collect()
                }
                None => json!(row),
            }));
        }
    }

    /// The next row as it is; empty lines are passed over.
    fn raw(&mut self) -> Read<Option<Vec<String>>> {
        while self.line_end().is_some_and(|bytes| bytes > 0) {
            self.at += self.line_end().unwrap_or_default();
        }
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let first = self.at;
        let mut row = Vec::new();
        loop {
            row.push(self.field()?);
            if self.bytes.get(self.at) != Some(&self.wants.delimiter) {
                break;
            }
            self.at += 1;
        }
        if *self.fields.get_or_insert(row.len()) != row.len() {
            return Err(format!("record on line {}: wrong number of fields", self.line_of(first)));
        }
        Ok(Some(row))
    }

    /// How many bytes of a line's end are next: none at the end of the file; `None` where the line goes on.
    fn line_end(&self) -> Option<usize> {
        match &self.bytes[self.at..] {
            [] => Some(0),
            [b'\n', ..] | [b'\r'] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            _ => None,
        }
    }

    /// One field; what follows it is its delimiter or the line's end.
    fn field(&mut self) -> Read<String> {
        let from = self.at;
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.quoted(from);
        }
        while self.line_end().is_none() && self.bytes[self.at] != self.wants.delimiter {
            if self.bytes[self.at] == b'"' {
                return Err(self.wrong(self.at, "bare \" in non-quoted field"));
            }
            self.at += 1;
        }
        Ok(String::from_utf8_lossy(&self.bytes[from..self.at]).into_owned())
    }

    /// The field in quotation marks that begins here.
    fn quoted(&mut self, from: usize) -> Read<String> {
        let mut text = Vec::new();
        self.at += 1;
        loop {
            match &self.bytes[self.at..] {
                [] => return Err(self.wrong(from, "extraneous or missing \" in quoted-field")),
                [b'"', b'"', ..] => {
                    text.push(b'"');
                    self.at += 2;
                }
                [b'"', ..] => break,
                [b'\r', b'\n', ..] => {
                    text.push(b'\n');
                    self.at += 2;
                }
                [byte, ..] => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let ends = self.line_end().is_some() || self.bytes[self.at] == self.wants.delimiter;
        if !ends {
            return Err(self.wrong(self.at - 1, "extraneous or missing \" in quoted-field"));
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The line of a byte, from 1.
    fn line_of(&self, at: usize) -> usize {
        self.bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn wrong(&self, at: usize, what: &str) -> String {
        let start = self.bytes[..at].iter().rposition(|byte| *byte == b'\n');
        let column = at - start.map_or(0, |start| start + 1) + 1;
        format!("parse error on line {}, column {column}: {what}", self.line_of(at))
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
    let number = |name: &str| -> Result<Option<usize>> {
        let value: Value<'js> = options.get(name)?;
        let whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
        match value.as_number() {
            _ if value.is_undefined() || value.is_null() => Ok(None),
            Some(number) if whole(&number) => Ok(Some(number as usize)),
            _ => Err(throw(&format!(
                "the option {name} is to be a whole number from 0 on, but is {}",
                string_of(&value)?
            ))),
        }
    };
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
    Ok((Rows::new(bytes, wants).map_err(|text| throw(&text))?, key))
}

/// All rows, each as JSON.
fn elements(ctx: &Ctx<'_>, rows: &mut Rows) -> Result<SharedElements> {
    let _beside = held_beside(ctx);
    let throw = |error: OutOfMemory| Exception::throw_message(ctx, &format!("csv: {error}"));
    let mut elements = SharedElements::default();
    let wrong = |text: String| Exception::throw_message(ctx, &text);
    while let Some(row) = rows.next().map_err(wrong)? {
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
    match rows.map_or(Ok(None), |rows| rows.borrow_mut().next()) {
        Ok(Some(row)) => ctx.json_parse(row.to_string()),
        Ok(None) => Ok(Value::new_undefined(ctx)),
        Err(text) => Err(Exception::throw_message(&ctx, &text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, wants: Wants) -> String {
        let all = Rows::new(text.as_bytes().into(), wants).and_then(|mut rows| {
            std::iter::from_fn(|| rows.next().transpose()).collect::<Read<Vec<_>>>()
        });
        all.map_or_else(|wrong| wrong, |all| json!(all).to_string())
    }

    #[test]
    fn malformed_files_are_refused_with_their_line() {
        let wants = || Wants { delimiter: b',', ..Wants::default() };
        for (text, expect) in [
            (
                "user,pw\nann,1\nbob,\"2\ncid,3\n",
                "parse error on line 3, column 5: extraneous or missing \" in quoted-field",
            ),
            ("a,b\nc,d\"e\n", "parse error on line 2, column 4: bare \" in non-quoted field"),
            (
                "a,\"b\"c\n",
                "parse error on line 1, column 5: extraneous or missing \" in quoted-field",
            ),
            ("\"open", "parse error on line 1, column 1: extraneous or missing \" in quoted-field"),
            ("a,b\r\nc\r\n", "record on line 2: wrong number of fields"),
            ("a,b\nc,d,e\n", "record on line 2: wrong number of fields"),
        ] {
            assert_eq!(read(text, wants()), expect, "{text}");
            assert_eq!(read(text, Wants { as_objects: true, ..wants() }), expect, "{text}");
        }
    }

    #[test]
    fn rows_are_read_as_rfc_4180_has_them() {
        let wants = || Wants { delimiter: b',', ..Wants::default() };
        for (text, expect) in [
            ("a,b\r\nc,\"d,\"\"e\"\"\nf\"\n", r#"[["a","b"],["c","d,\"e\"\nf"]]"#),
            ("a,\n\n,b", r#"[["a",""],["","b"]]"#),
            ("", "[]"),
            ("\u{feff}a,b\n", r#"[["a","b"]]"#),
            ("\u{feff}\"a\",b\n", r#"[["a","b"]]"#),
            ("\u{feff}", "[]"),
            ("a\rb,c\r", "[[\"a\\rb\",\"c\"]]"),
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
