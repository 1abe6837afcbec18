//! What can be seen in a parsed module: which kind it is, what it imports, what a CommonJS one exports.

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, AwaitExpression,
    CallExpression, Expression, ForOfStatement, Function, ObjectPropertyKind, Program,
};
use oxc::ast_visit::{Visit, walk};
use oxc::parser::{ParseOptions, Parser};
use oxc::span::{SourceType, Span};
use oxc::syntax::module_record::{ExportImportName, ImportImportName, ModuleRecord, NameSpan};
use oxc::syntax::scope::ScopeFlags;

use super::source::{Import, Kind, line_and_column};

/// What can be seen in JavaScript; nothing where it cannot be parsed.
pub(super) fn seen(text: &str) -> Option<(Kind, Vec<Import>, Vec<String>)> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let kind = kind(&parsed.program, &parsed.module_record);
    let exports = match kind {
        Kind::Module => Vec::new(),
        Kind::CommonJs => commonjs_exports(&parsed.program),
    };
    Some((kind, imports(&parsed.module_record, text), exports))
}

/// The kind of a module: an ES module has import, export, `import.meta` or a top-level await.
pub(super) fn kind(program: &Program<'_>, record: &ModuleRecord<'_>) -> Kind {
    let mut top = TopAwait(false);
    if !record.has_module_syntax && record.import_metas.is_empty() {
        top.visit_program(program);
    }
    let module = record.has_module_syntax || !record.import_metas.is_empty() || top.0;
    if module { Kind::Module } else { Kind::CommonJs }
}

/// Whether there is an `await` outside of functions.
struct TopAwait(bool);

impl<'a> Visit<'a> for TopAwait {
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.0 = true;
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.0 |= it.r#await;
        walk::walk_for_of_statement(self, it);
    }
}

/// What a module imports, in the order of its text.
pub(super) fn imports(record: &ModuleRecord<'_>, text: &str) -> Vec<Import> {
    let mut found: Vec<(Span, Import)> = Vec::new();
    let mut note = |module: &NameSpan<'_>, name: Option<&str>| {
        let (line, column) = line_and_column(text, module.span.start as usize);
        let specifier = module.name.as_str().to_owned();
        let name = name.map(str::to_owned);
        found.push((module.span, Import { specifier, name, line, column }));
    };
    for entry in record.import_entries.iter().filter(|entry| !entry.is_type) {
        let name = match &entry.import_name {
            ImportImportName::Name(name) => Some(name.name.as_str()),
            ImportImportName::Default(_) => Some("default"),
            ImportImportName::NamespaceObject => None,
        };
        note(&entry.module_request, name);
    }
    let again = record.indirect_export_entries.iter().chain(&record.star_export_entries);
    for entry in again.filter(|entry| !entry.is_type) {
        let Some(module) = &entry.module_request else { continue };
        match &entry.import_name {
            ExportImportName::Name(name) => note(module, Some(name.name.as_str())),
            _ => note(module, None),
        }
    }
    for (specifier, requests) in &record.requested_modules {
        for request in requests.iter().filter(|request| !request.is_type) {
            if found.iter().any(|(span, _)| *span == request.span) {
                continue;
            }
            let (line, column) = line_and_column(text, request.span.start as usize);
            let (specifier, name) = (specifier.as_str().to_owned(), Some("default".to_owned()));
            found.push((request.span, Import { specifier, name, line, column }));
        }
    }
    found.sort_by_key(|(span, _)| span.start);
    found.into_iter().map(|(_, import)| import).collect()
}

/// The exports of a CommonJS module that can be seen without running it.
pub(super) fn commonjs_exports(program: &Program<'_>) -> Vec<String> {
    let mut seen = Exports(Vec::new());
    seen.visit_program(program);
    seen.0
}

struct Exports(Vec<String>);

impl<'a> Visit<'a> for Exports {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            AssignmentTarget::StaticMemberExpression(left) => {
                if is_exports(&left.object) {
                    self.0.push(left.property.name.as_str().to_owned());
                } else if is_named(&left.object, "module") && left.property.name == "exports" {
                    self.keys(&it.right);
                }
            }
            AssignmentTarget::ComputedMemberExpression(left) if is_exports(&left.object) => {
                if let Expression::StringLiteral(name) = &left.expression {
                    self.0.push(name.value.as_str().to_owned());
                }
            }
            _ => {}
        }
        walk::walk_assignment_expression(self, it);
    }

    /// `Object.defineProperty(exports, 'name', …)`.
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && callee.property.name == "defineProperty"
            && let [target, name, ..] = it.arguments.as_slice()
            && target.as_expression().is_some_and(is_exports)
            && let Some(Expression::StringLiteral(name)) = name.as_expression()
        {
            self.0.push(name.value.as_str().to_owned());
        }
        walk::walk_call_expression(self, it);
    }
}

impl Exports {
    fn keys(&mut self, value: &Expression<'_>) {
        let Expression::ObjectExpression(object) = value else { return };
        for property in &object.properties {
            if let ObjectPropertyKind::ObjectProperty(property) = property
                && let Some(name) = property.key.static_name()
            {
                self.0.push(name.into_owned());
            }
        }
    }
}

fn is_exports(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::StaticMemberExpression(member) => {
            is_named(&member.object, "module") && member.property.name == "exports"
        }
        other => is_named(other, "exports"),
    }
}

fn is_named(expression: &Expression<'_>, name: &str) -> bool {
    matches!(expression, Expression::Identifier(identifier) if identifier.name == name)
}
