//! The shape of a URL in a script: whether it is another one in each iteration.

use std::collections::BTreeSet;

use oxc::ast::ast::{Expression, TemplateLiteral};

/// Names that have one value as long as the script runs: constants of the module, and what it imports.
pub(crate) type Constants = BTreeSet<String>;

/// Whether a URL varies behind its beginning. The beginning is the host, which is one in each test whatever holds it.
pub(crate) fn varies(url: &Expression<'_>, constants: &Constants) -> bool {
    match url {
        Expression::TemplateLiteral(template) => template_varies(template, constants),
        Expression::BinaryExpression(_) => {
            let mut parts = Vec::new();
            flatten(url, &mut parts);
            parts.iter().skip(1).any(|part| !is_constant(part, constants))
        }
        Expression::ParenthesizedExpression(inner) => varies(&inner.expression, constants),
        _ => false,
    }
}

fn template_varies(template: &TemplateLiteral<'_>, constants: &Constants) -> bool {
    let begins_with_value = template.quasis.first().is_some_and(|first| first.value.raw.is_empty());
    let behind = template.expressions.iter().skip(usize::from(begins_with_value));
    behind.into_iter().any(|part| !is_constant(part, constants))
}

/// The parts of a sum, in order.
fn flatten<'e, 'a>(sum: &'e Expression<'a>, parts: &mut Vec<&'e Expression<'a>>) {
    match sum {
        Expression::BinaryExpression(binary) => {
            flatten(&binary.left, parts);
            flatten(&binary.right, parts);
        }
        Expression::ParenthesizedExpression(inner) => flatten(&inner.expression, parts),
        _ => parts.push(sum),
    }
}

/// Whether an expression has one value in all iterations, as far as its text says.
fn is_constant(part: &Expression<'_>, constants: &Constants) -> bool {
    match part {
        Expression::StringLiteral(_) | Expression::NumericLiteral(_) => true,
        Expression::Identifier(name) => constants.contains(name.name.as_str()),
        Expression::StaticMemberExpression(member) => {
            is_environment(&member.object) || is_constant(&member.object, constants)
        }
        Expression::LogicalExpression(either) => {
            is_constant(&either.left, constants) && is_constant(&either.right, constants)
        }
        Expression::ParenthesizedExpression(inner) => is_constant(&inner.expression, constants),
        Expression::TemplateLiteral(template) => {
            template.expressions.iter().all(|part| is_constant(part, constants))
        }
        _ => false,
    }
}

fn is_environment(object: &Expression<'_>) -> bool {
    matches!(object, Expression::Identifier(name) if name.name == "__ENV")
}
