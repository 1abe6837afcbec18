//! Types as declarations and casts have them.

use std::sync::Arc;

use super::Parser;
use crate::script::library::class_named;
use crate::script::tree::{BareType, Type};

/// A type as it is written.
pub(super) struct TypeName {
    pub(super) kind: Type,
    pub(super) name: Arc<str>,
    /// Whether it is one of Java's own, or a class whose name is known.
    pub(super) is_certain: bool,
}

impl Parser<'_> {
    /// A type: `int`, `String[]`, `java.util.Map<String, List<Integer>>`.
    pub(super) fn type_name(&mut self) -> Option<TypeName> {
        self.attempt(|parser| {
            let name = parser.type_path()?;
            if parser.is_sign("<") {
                parser.generics()?;
            }
            let mut is_array = false;
            while parser.is_sign("[") && parser.sign_at(1, "]") {
                parser.at += 2;
                is_array = true;
            }
            let kind = if is_array { array_type(&name) } else { type_of(&name) };
            let is_certain = is_primitive(&name) || class_named(&name).is_some();
            Some(TypeName { kind, name, is_certain })
        })
    }

    /// A name that may be a type's; with a package before it, its last part.
    fn type_path(&mut self) -> Option<Arc<str>> {
        let mut name = self.name_at(0)?.clone();
        self.at += 1;
        while is_package(&name) && self.is_sign(".") && self.name_at(1).is_some() {
            name = self.name_at(1)?.clone();
            self.at += 2;
        }
        // `Map.Entry`, and no method that is called.
        while self.is_sign(".") && name.starts_with(char::is_uppercase) {
            let next = self.name_at(1).filter(|next| next.starts_with(char::is_uppercase))?;
            name = next.clone();
            self.at += 2;
        }
        (is_primitive(&name) || name.starts_with(char::is_uppercase)).then_some(name)
    }

    /// `<...>`, whatever is in it.
    pub(super) fn generics(&mut self) -> Option<()> {
        let mut depth = 0_i32;
        for _ in 0..64 {
            match &self.token().kind {
                super::TokenKind::Sign("<") => depth += 1,
                super::TokenKind::Sign(">") => depth -= 1,
                super::TokenKind::Sign(">>") => depth -= 2,
                super::TokenKind::Sign(">>>") => depth -= 3,
                super::TokenKind::Sign("," | "?" | "." | "[" | "]" | "&") => {}
                super::TokenKind::Name(_) => {}
                _ => return None,
            }
            self.at += 1;
            if depth <= 0 {
                return Some(());
            }
        }
        None
    }
}

/// Whether a name may be a part of a package's.
pub(super) fn is_package(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase()) && !is_primitive(name)
}

fn is_primitive(name: &str) -> bool {
    const PRIMITIVES: [&str; 9] =
        ["int", "long", "double", "float", "boolean", "char", "byte", "short", "void"];
    PRIMITIVES.contains(&name)
}

/// The conversion of a type.
fn type_of(name: &str) -> Type {
    match name {
        "int" => Type::Bare(BareType::Int),
        "long" => Type::Bare(BareType::Long),
        "double" | "float" => Type::Bare(BareType::Double),
        "char" => Type::Bare(BareType::Letter),
        "short" => Type::Bare(BareType::Short),
        "byte" => Type::Bare(BareType::Byte),
        "Integer" => Type::Int,
        "Short" => Type::Short,
        "Long" => Type::Long,
        "Double" | "Float" => Type::Double,
        "BigDecimal" | "BigInteger" => Type::Decimal,
        "boolean" | "Boolean" => Type::Truth,
        "Character" => Type::Letter,
        "Byte" => Type::Byte,
        "String" | "CharSequence" => Type::Text,
        "List" | "ArrayList" | "Collection" | "LinkedList" => Type::List,
        "Set" | "HashSet" | "LinkedHashSet" => Type::Set,
        _ => Type::Any,
    }
}

fn array_type(name: &str) -> Type {
    if name == "byte" { Type::Bytes } else { Type::Array }
}
