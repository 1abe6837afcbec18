//! TypeScript to JavaScript: types go, enums, namespaces and parameter properties become code. Nothing is checked.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::parser::{ParseOptions, Parser};
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};
use oxc_codegen::{Codegen, CodegenOptions};

use super::source::{Source, SourceError, line_and_column};
use super::source_map::{SourceMap, Token};
use super::typescript_syntax as syntax;

/// A module without its types, and where its lines come from.
///
/// # Errors
/// It cannot be parsed.
pub(super) fn stripped(name: &str, text: &str) -> Result<Source, Box<SourceError>> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, SourceType::ts()).with_options(options).parse();
    if let Some(wrong) = parsed.diagnostics.errors().next() {
        let offset = wrong.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(refused(&wrong.message, text, offset));
    }
    let record = parsed.module_record;
    let mut program = parsed.program;
    let kind = syntax::kind(&program, &record);
    let imports = syntax::imports(&record, text);
    let exports = syntax::commonjs_exports(&program);
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true);
    let scoping = semantic.build(&program).semantic.into_scoping();
    let done = Transformer::new(&allocator, Path::new(name), &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    if let Some(wrong) = done.diagnostics.errors().next() {
        let offset = wrong.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(refused(&wrong.message, text, offset));
    }
    let options =
        CodegenOptions { source_map_path: Some(name.into()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let tokens = tokens.map(|token| Token {
        line: token.get_dst_line(),
        column: token.get_dst_col(),
        from_line: token.get_src_line(),
        from_column: token.get_src_col(),
        source: 0,
    });
    // The places of imports are those of the original, and need no map.
    let places = SourceMap::of_typescript(name, text, tokens.collect());
    Ok(Source { text: printed.code, kind, imports, exports, places })
}

fn refused(message: &str, text: &str, offset: usize) -> Box<SourceError> {
    let (line, column) = line_and_column(text, offset);
    Box::new(SourceError { message: message.to_owned(), line, column, text: text.to_owned() })
}
