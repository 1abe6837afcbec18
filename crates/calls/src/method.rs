//! Methods and symbols by their names, with the nearest where there is none of a name.

use anyhow::{Result, anyhow, bail};
use grpc::{Definitions, Method};
use prost_reflect::ServiceDescriptor;
use stdx::nearest;

/// The method of a name: `pkg.Service/Method`, `pkg.Service.Method`, with or without a slash before it.
///
/// # Errors
/// There is none; the error names the nearest.
pub fn find_method(definitions: &Definitions, name: &str) -> Result<Method> {
    let plain = name.trim_start_matches('/');
    let cut = plain.split_once('/').or_else(|| plain.rsplit_once('.'));
    let Some((service, method)) = cut else {
        bail!("\"{name}\" is no method (expected pkg.Service/Method)");
    };
    if let Some(found) = definitions.method(&format!("{service}/{method}")) {
        return Ok(found);
    }
    let known = find_service(definitions, service)?;
    let methods: Vec<String> = known.methods().map(|method| method.name().to_owned()).collect();
    let names: Vec<&str> = methods.iter().map(String::as_str).collect();
    Err(anyhow!("service {service} has no method \"{method}\"{}", hint(method, &names)))
}

/// The service of a full name.
///
/// # Errors
/// There is none; the error names the nearest.
pub(crate) fn find_service(definitions: &Definitions, name: &str) -> Result<ServiceDescriptor> {
    definitions.service(name).ok_or_else(|| {
        let services = definitions.services();
        let names: Vec<&str> = services.iter().map(ServiceDescriptor::full_name).collect();
        anyhow!("no service \"{name}\"{}", hint(name, &names))
    })
}

/// The full name of a symbol that is there.
///
/// # Errors
/// There is none of that name; the error names the nearest.
pub fn find_symbol(definitions: &Definitions, name: &str) -> Result<String> {
    let plain = name.trim_start_matches(['/', '.']).replace('/', ".");
    let symbols = definitions.symbols();
    if symbols.contains(&plain) {
        return Ok(plain);
    }
    let names: Vec<&str> = symbols.iter().map(String::as_str).collect();
    Err(anyhow!("no symbol \"{name}\"{}", hint(&plain, &names)))
}

/// ` (did you mean …?)`, or what there is where nothing is near.
fn hint(name: &str, known: &[&str]) -> String {
    const LISTED_MAX: usize = 8;
    match nearest(name, known.iter().copied()) {
        Some(near) => format!(" (did you mean {near}?)"),
        None if known.is_empty() => String::new(),
        None => {
            let more = if known.len() > LISTED_MAX { ", …" } else { "" };
            let listed: Vec<&str> = known.iter().copied().take(LISTED_MAX).collect();
            format!(" (there are {}{more})", listed.join(", "))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use grpc::ProtoSource;

    use super::*;

    pub(crate) struct Text(pub(crate) &'static str);

    impl ProtoSource for Text {
        fn read(&self, name: &str) -> Result<Option<String>, std::io::Error> {
            Ok((name == "t.proto").then(|| self.0.to_owned()))
        }
    }

    pub(crate) fn definitions(text: &'static str) -> Definitions {
        let source: Arc<dyn ProtoSource> = Arc::new(Text(text));
        let mut definitions = Definitions::default();
        definitions.load(&["t.proto".to_owned()], &source).expect("definitions");
        definitions
    }

    pub(crate) const SHOP: &str = r#"syntax = "proto3"; package shop.v1;
        enum Colour { GREY = 0; RED = 1; }
        message Item { string name = 1; int64 count = 2; repeated Item parts = 3; map<string, Colour> by = 4;
            oneof kind { bool flag = 5; bytes raw = 6; } optional double price = 7; }
        message Reply { string text = 1; }
        service Shop { rpc Buy(Item) returns (Reply); rpc Watch(Item) returns (stream Reply);
            rpc Put(stream Item) returns (Reply); }"#;

    #[test]
    fn methods_have_several_spellings() {
        let all = definitions(SHOP);
        for name in ["shop.v1.Shop/Buy", "/shop.v1.Shop/Buy", "shop.v1.Shop.Buy"] {
            assert_eq!(find_method(&all, name).expect(name).path(), "/shop.v1.Shop/Buy");
        }
        let error = |name: &str| find_method(&all, name).expect_err(name).to_string();
        assert_eq!(
            error("shop.v1.Shop/By"),
            "service shop.v1.Shop has no method \"By\" (did you mean Buy?)"
        );
        assert_eq!(
            error("shop.v1.Shp/Buy"),
            "no service \"shop.v1.Shp\" (did you mean shop.v1.Shop?)"
        );
        assert!(error("Buy").contains("expected pkg.Service/Method"));
        assert!(find_symbol(&all, "shop.v1.Item").is_ok());
        assert!(find_symbol(&all, "shop.v1.Shop/Buy").is_ok());
        assert!(find_symbol(&all, "shop.v1.Itm").is_err());
    }
}
