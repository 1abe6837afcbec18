//! `Sight`: what one walk over a script's syntax sees.

use std::collections::BTreeMap;

use oxc::allocator::{Allocator, Vec as ArenaVec};
use oxc::ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, BindingProperty, CallExpression,
    ExportDefaultDeclaration, Expression, Function, ImportDeclaration, ImportDeclarationSpecifier,
    ObjectExpression, ObjectProperty, ObjectPropertyKind, ReturnStatement, Statement,
    StaticMemberExpression, VariableDeclarator,
};
use oxc::ast_visit::{Visit, walk};
use oxc::parser::{ParseOptions, Parser};
use oxc::span::{GetSpan as _, SourceType};
use oxc::syntax::scope::ScopeFlags;

use crate::url_shape::{Constants, varies};

/// Where things stand in a file, by their bytes.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    /// The modules that are imported.
    pub(crate) imports: Vec<(String, u32)>,
    /// The keys of objects, with each place.
    pub(crate) keys: BTreeMap<String, Vec<u32>>,
    /// Requests of `k6/http`.
    pub(crate) requests: Vec<u32>,
    /// Those whose URL varies, without a name for their metrics.
    pub(crate) varying: Vec<u32>,
    /// Pauses.
    pub(crate) sleeps: Vec<u32>,
    /// Checks whose condition assigns.
    pub(crate) assigning: Vec<u32>,
    /// Checks whose function gives nothing back.
    pub(crate) giving_nothing: Vec<u32>,
    /// Checks behind a statement that ends the function.
    pub(crate) unreached: Vec<u32>,
    /// Calls of `open`, with the function of the module that they stand in.
    pub(crate) opens: Vec<(String, u32)>,
    /// A body is looked at somewhere.
    pub(crate) reads_bodies: bool,
}

/// The methods of `k6/http` that send a request: where the URL stands among the arguments, and where the parameters.
const METHODS: [(&str, usize, usize); 9] = [
    ("get", 0, 1),
    ("head", 0, 1),
    ("post", 0, 2),
    ("put", 0, 2),
    ("patch", 0, 2),
    ("del", 0, 2),
    ("options", 0, 2),
    ("request", 1, 3),
    ("asyncRequest", 1, 3),
];

/// What a response or its parts are looked at by.
const OF_BODIES: [&str; 5] = ["body", "json", "html", "submitForm", "clickLink"];

/// What a file's syntax shows; nothing of a file that cannot be parsed, which its init code has said.
pub(crate) fn look(name: &str, text: &str) -> Sight {
    let allocator = Allocator::default();
    let source = SourceType::from_path(name).unwrap_or_default().with_module(true);
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, source).with_options(options).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return Sight::default();
    }
    let mut look = Look::default();
    look.visit_program(&parsed.program);
    look.sight
}

#[derive(Default)]
struct Look {
    sight: Sight,
    /// What is constant in the module.
    constants: Constants,
    /// What `k6/http` is called here.
    http: Vec<String>,
    /// How many functions the walk is in.
    depth: usize,
    /// The name of the function that comes next, at the top of the module.
    next_name: String,
    /// The function of the module that the walk is in.
    function: String,
    /// A statement before this one ended the function.
    is_unreached: bool,
}

impl Look {
    fn within(&mut self, name: Option<&str>, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.is_unreached);
        if self.depth == 0 {
            let next = std::mem::take(&mut self.next_name);
            self.function =
                if next.is_empty() { name.unwrap_or_default().to_owned() } else { next };
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
        self.is_unreached = before;
    }

    fn request(&mut self, call: &CallExpression<'_>, (url, params): (usize, usize)) {
        let place = call.span.start;
        self.sight.requests.push(place);
        let url = call.arguments.get(url).and_then(Argument::as_expression);
        let params = call.arguments.get(params).and_then(Argument::as_expression);
        let is_named = match params {
            None => false,
            Some(Expression::ObjectExpression(params)) => names_its_metrics(params),
            // Its name may come from elsewhere.
            Some(_) => true,
        };
        if !is_named && url.is_some_and(|url| varies(url, &self.constants)) {
            self.sight.varying.push(place);
        }
    }

    fn check(&mut self, call: &CallExpression<'_>) {
        if self.is_unreached {
            self.sight.unreached.push(call.span.start);
        }
        let conditions = call.arguments.get(1).and_then(Argument::as_expression);
        let Some(Expression::ObjectExpression(conditions)) = conditions else { return };
        for condition in &conditions.properties {
            let ObjectPropertyKind::ObjectProperty(condition) = condition else { continue };
            self.condition(condition);
        }
    }

    fn condition(&mut self, condition: &ObjectProperty<'_>) {
        let place = condition.span.start;
        let (assigns, gives) = match &condition.value {
            Expression::ArrowFunctionExpression(arrow) => match &arrow.body {
                ArrowFunctionBody::FunctionBody(body) => (false, gives_back(&body.statements)),
                body => (body.as_expression().is_some_and(is_assignment), true),
            },
            Expression::FunctionExpression(function) => {
                let body = function.body.as_ref();
                (false, body.is_none_or(|body| gives_back(&body.statements)))
            }
            value => (is_assignment(value), true),
        };
        if assigns {
            self.sight.assigning.push(place);
        }
        if !gives {
            self.sight.giving_nothing.push(place);
        }
    }

    fn method(&self, member: &StaticMemberExpression<'_>) -> Option<(usize, usize)> {
        let Expression::Identifier(object) = &member.object else { return None };
        if !self.http.iter().any(|name| name == object.name.as_str()) {
            return None;
        }
        let method = METHODS.iter().find(|(name, ..)| *name == member.property.name.as_str());
        method.map(|(_, url, params)| (*url, *params))
    }
}

/// Whether parameters of a request have a tag `name`, or tags that come from elsewhere.
fn names_its_metrics(params: &ObjectExpression<'_>) -> bool {
    params.properties.iter().any(|property| match property {
        ObjectPropertyKind::SpreadProperty(_) => true,
        ObjectPropertyKind::ObjectProperty(tags) if tags.key.is_specific_static_name("tags") => {
            match &tags.value {
                Expression::ObjectExpression(tags) => tags.properties.iter().any(|tag| match tag {
                    ObjectPropertyKind::SpreadProperty(_) => true,
                    ObjectPropertyKind::ObjectProperty(tag) => {
                        tag.key.is_specific_static_name("name")
                    }
                }),
                _ => true,
            }
        }
        ObjectPropertyKind::ObjectProperty(_) => false,
    })
}

fn is_assignment(value: &Expression<'_>) -> bool {
    match value {
        Expression::AssignmentExpression(_) => true,
        Expression::ParenthesizedExpression(inner) => is_assignment(&inner.expression),
        _ => false,
    }
}

/// Whether a function's statements have a `return` with a value, or never end without an exception.
fn gives_back(statements: &[Statement<'_>]) -> bool {
    struct Returns(bool);
    impl<'a> Visit<'a> for Returns {
        fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
            self.0 |= it.argument.is_some();
        }
        fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
        fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    }
    let mut returns = Returns(false);
    statements.iter().for_each(|statement| returns.visit_statement(statement));
    returns.0 || statements.iter().any(|it| matches!(it, Statement::ThrowStatement(_)))
}

impl<'a> Visit<'a> for Look {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let module = it.source.value.as_str().to_owned();
        for specifier in it.specifiers.iter().flatten() {
            let (local, is_whole) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => (&one.local, false),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => (&one.local, true),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => (&one.local, true),
            };
            let local = local.name.as_str().to_owned();
            if is_whole && module == "k6/http" {
                self.http.push(local.clone());
            }
            self.constants.insert(local);
        }
        self.sight.imports.push((module, it.span.start));
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if self.depth == 0
            && let Some(name) = it.id.get_identifier_name()
        {
            self.constants.insert(name.as_str().to_owned());
            let is_function = it.init.as_ref().is_some_and(Expression::is_function);
            self.next_name = if is_function { name.as_str().to_owned() } else { String::new() };
        }
        walk::walk_variable_declarator(self, it);
        self.next_name.clear();
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        "default".clone_into(&mut self.next_name);
        walk::walk_export_default_declaration(self, it);
        self.next_name.clear();
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let name = it.id.as_ref().map(|id| id.name.as_str());
        self.within(name, |look| walk::walk_function(look, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.within(None, |look| walk::walk_arrow_function_expression(look, it));
    }

    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        let before = self.is_unreached;
        for statement in it {
            self.visit_statement(statement);
            let ends =
                matches!(statement, Statement::ReturnStatement(_) | Statement::ThrowStatement(_));
            self.is_unreached |= ends && self.depth > 0;
        }
        self.is_unreached = before;
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if let Some(name) = it.key.static_name() {
            let place = it.key.span().start;
            self.sight.keys.entry(name.into_owned()).or_default().push(place);
        }
        walk::walk_object_property(self, it);
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        let name = it.key.static_name();
        self.sight.reads_bodies |= name.is_some_and(|name| OF_BODIES.contains(&name.as_ref()));
        walk::walk_binding_property(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.sight.reads_bodies |= OF_BODIES.contains(&it.property.name.as_str());
        walk::walk_static_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let place = it.span.start;
        match &it.callee {
            Expression::Identifier(name) => match name.name.as_str() {
                "sleep" | "setTimeout" | "setInterval" => self.sight.sleeps.push(place),
                "check" => self.check(it),
                "open" if self.depth > 0 => self.sight.opens.push((self.function.clone(), place)),
                _ => {}
            },
            Expression::StaticMemberExpression(member) => {
                if let Some(places) = self.method(member) {
                    self.request(it, places);
                } else if member.property.name == "waitForTimeout" {
                    self.sight.sleeps.push(place);
                }
            }
            _ => {}
        }
        walk::walk_call_expression(self, it);
    }
}
