//! The functions of texts, by their names: `__time`, `__P` and others.

pub(crate) mod encode;
mod format_time;
mod numbers;
mod state;

use crate::arguments::Arguments;
use crate::expression;
use crate::scope::{Place, Scope};

/// Computes a call in a scope.
type Compute = fn(&Arguments, &mut dyn Scope) -> String;

/// A function of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    name: &'static str,
    /// `None` of those that are known and not supported.
    compute: Option<Compute>,
}

impl Function {
    /// Its name, where it is not supported.
    pub(crate) fn unsupported(self) -> Option<&'static str> {
        self.compute.is_none().then_some(self.name)
    }

    /// Whether its value is evaluated once more.
    pub(crate) fn is_evaluated_again(self) -> bool {
        matches!(self.name, "__eval" | "__evalVar")
    }

    /// Its value.
    pub(crate) fn call(self, call: &Arguments, scope: &mut dyn Scope) -> String {
        self.compute.map_or_else(String::new, |compute| compute(call, scope))
    }
}

/// The function of a name; a name that is none is a variable's.
pub(crate) fn function_of(name: &str) -> Option<Function> {
    let row = FUNCTIONS.iter().find(|(known, _)| *known == name)?;
    Some(Function { name: row.0, compute: row.1 })
}

const FUNCTIONS: &[(&str, Option<Compute>)] = &[
    ("__P", Some(state::p)),
    ("__property", Some(state::property)),
    ("__setProperty", Some(state::set_property)),
    ("__V", Some(state::v)),
    ("__eval", Some(|call, _| call.text(0))),
    ("__evalVar", Some(|call, scope| scope.variable(&call.text(0)).unwrap_or_default())),
    (
        "__isVarDefined",
        Some(|call, scope| {
            let name = call.text(0);
            scope.variable(name.trim()).is_some().to_string()
        }),
    ),
    (
        "__isPropDefined",
        Some(|call, scope| {
            let name = call.text(0);
            scope.property(name.trim()).is_some().to_string()
        }),
    ),
    ("__split", Some(state::split)),
    ("__counter", Some(state::counter)),
    ("__threadNum", Some(|_, scope| scope.thread_number().to_string())),
    ("__threadGroupName", Some(|_, scope| scope.place(Place::Group))),
    (
        "__samplerName",
        Some(|call, scope| {
            let text = scope.place(Place::Sampler);
            call.stored(scope, 0, text)
        }),
    ),
    ("__TestPlanName", Some(|_, scope| scope.place(Place::Plan))),
    ("__iterationNum", Some(|_, scope| scope.iteration().to_string())),
    ("__machineName", Some(|call, scope| call.stored(scope, 0, "localhost".to_owned()))),
    ("__machineIP", Some(|call, scope| call.stored(scope, 0, "127.0.0.1".to_owned()))),
    ("__log", Some(state::log)),
    (
        "__logn",
        Some(|call, scope| {
            state::log(call, scope);
            String::new()
        }),
    ),
    ("__time", Some(format_time::time)),
    ("__timeShift", Some(format_time::time_shift)),
    ("__Random", Some(numbers::random)),
    ("__RandomString", Some(numbers::random_string)),
    ("__RandomFromMultipleVars", Some(numbers::random_from_variables)),
    ("__UUID", Some(numbers::uuid)),
    ("__intSum", Some(numbers::int_sum)),
    ("__longSum", Some(numbers::long_sum)),
    ("__urlencode", Some(|call, _| encode::url_encode(&call.text(0)))),
    ("__urldecode", Some(|call, _| encode::url_decode(&call.text(0)))),
    ("__escapeHtml", Some(encode::escape_html)),
    ("__escapeXml", Some(encode::escape_html)),
    ("__unescape", Some(encode::unescape)),
    ("__escapeOroRegexpChars", Some(encode::escape_regex)),
    ("__char", Some(encode::char_codes)),
    ("__changeCase", Some(encode::change_case)),
    ("__digest", Some(encode::digest)),
    ("__FileToString", Some(state::file_to_string)),
    ("__StringFromFile", Some(state::string_from_file)),
    ("__jexl3", Some(jexl)),
    ("__jexl2", Some(jexl)),
    ("__groovy", None),
    ("__BeanShell", None),
    ("__javaScript", None),
    ("__regexFunction", None),
    ("__XPath", None),
    ("__CSVRead", None),
    ("__RandomDate", None),
    ("__dateTimeConvert", None),
    ("__unescapeHtml", None),
];

/// An expression of JEXL: what it is worth, also in a variable.
fn jexl(call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let value = expression::evaluate(&text, scope).unwrap_or_default();
    call.stored(scope, 1, value)
}

#[cfg(test)]
mod tests {
    use crate::scope::{MemoryScope, Scope};
    use crate::text::Text;

    #[track_caller]
    fn check(written: &str, expect: &str) {
        let mut scope = MemoryScope::default();
        scope.unix_ms = 1_700_000_000_123;
        scope.set_variable("v", "a,b,,c".to_owned());
        assert_eq!(Text::parse(written).evaluate(&mut scope), expect, "{written}");
    }

    #[test]
    fn functions_compute() {
        for (written, expect) in [
            ("${__intSum(1,2,-5)}", "-2"),
            ("${__intSum(1,2,x)}|${x}", "3|3"),
            ("${__longSum(4000000000,1)}", "4000000001"),
            ("${__time()}", "1700000000123"),
            ("${__time(/1000,)}", "1700000000"),
            ("${__time(YMD)} ${__time(HMS)}", "20231114 221320"),
            ("${__time(yyyy-MM-dd'T'HH:mm:ss.SSS'Z')}", "2023-11-14T22:13:20.123Z"),
            ("${__urlencode(a b&é)}", "a+b%26%C3%A9"),
            ("${__urldecode(a+b%26%C3%A9%zz)}", "a b&é%zz"),
            ("${__char(65,0x42)}", "AB"),
            (
                "${__changeCase(aB)}${__changeCase(aB,LOWER)}${__changeCase(aB,CAPITALIZE)}",
                "ABabAB",
            ),
            ("${__digest(MD5,abc)}", "900150983cd24fb0d6963f7d28e17f72"),
            ("${__digest(SHA-1,abc,,,)}", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("${__split(${v},s)}|${s_n}|${s_1}|${s_3}|${s_4}", "a,b,,c|4|a|?|c"),
            ("${__counter(FALSE)}${__counter(TRUE)}", "11"),
            ("${__setProperty(p,1)}${__P(p)}${__setProperty(p,2,true)}", "11"),
            ("${__isVarDefined(v)} ${__isVarDefined(w)}", "true false"),
            ("${__Random(5,5)}", "5"),
            ("${__escapeHtml(<a>&\")}", "&lt;a&gt;&amp;&quot;"),
            ("${__jexl3(1+2*3)} ${__jexl3(\"${v}\" == \"x\")}", "7 false"),
            ("${__evalVar(v)}", "a,b,,c"),
        ] {
            check(written, expect);
        }
    }

    #[test]
    fn random_texts_are_of_their_alphabets() {
        let mut scope = MemoryScope::default();
        for _ in 0..50 {
            let text =
                Text::parse("${__RandomString(4,xy)}${__Random(10,12)}").evaluate(&mut scope);
            assert!(text[..4].chars().all(|letter| "xy".contains(letter)), "{text}");
            assert!(["10", "11", "12"].contains(&&text[4..]), "{text}");
        }
        let uuid = Text::parse("${__UUID}").evaluate(&mut scope);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
    }
}
