//! The functions of texts, by their names: `__time`, `__P` and others.

pub(crate) mod encode;
mod moments;
mod numbers;
mod search;
mod state;

use crate::arguments::Arguments;
use crate::expression;
use crate::scope::{Place, Scope};
use crate::script::Language;

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
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// Its name, where it is not supported.
    pub(crate) fn unsupported(self) -> Option<&'static str> {
        self.compute.is_none().then_some(self.name)
    }

    /// The language of its first argument, where that is a script.
    pub(crate) fn language(self) -> Option<Language> {
        match self.name {
            "__groovy" => Some(Language::Groovy),
            "__BeanShell" => Some(Language::BeanShell),
            "__javaScript" => Some(Language::JavaScript),
            _ => None,
        }
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
    (
        "__machineName",
        Some(|call, scope| {
            let name = scope.machine_name();
            call.stored(scope, 0, name)
        }),
    ),
    (
        "__machineIP",
        Some(|call, scope| {
            let address = scope.machine_address();
            call.stored(scope, 0, address)
        }),
    ),
    ("__log", Some(state::log)),
    (
        "__logn",
        Some(|call, scope| {
            state::log(call, scope);
            String::new()
        }),
    ),
    ("__time", Some(moments::time)),
    ("__timeShift", Some(moments::time_shift)),
    ("__Random", Some(numbers::random)),
    ("__RandomString", Some(numbers::random_string)),
    ("__RandomFromMultipleVars", Some(numbers::random_from_variables)),
    ("__UUID", Some(numbers::uuid)),
    ("__intSum", Some(numbers::int_sum)),
    ("__longSum", Some(numbers::long_sum)),
    ("__urlencode", Some(|call, _| encode::url_encode(&call.text(0)))),
    ("__urldecode", Some(|call, _| encode::url_decode(&call.text(0)))),
    ("__escapeHtml", Some(encode::escape_html)),
    ("__escapeXml", Some(encode::escape_xml)),
    ("__unescapeHtml", Some(|call, _| crate::html::unescape(&call.text(0)))),
    ("__unescape", Some(encode::unescape)),
    ("__escapeOroRegexpChars", Some(encode::escape_regex)),
    ("__char", Some(encode::char_codes)),
    ("__changeCase", Some(encode::change_case)),
    ("__digest", Some(encode::digest)),
    ("__StringToFile", Some(state::string_to_file)),
    ("__FileToString", Some(state::file_to_string)),
    ("__StringFromFile", Some(state::string_from_file)),
    ("__RandomDate", Some(moments::random_date)),
    ("__dateTimeConvert", Some(moments::convert)),
    ("__regexFunction", Some(search::regex)),
    ("__XPath", Some(search::xpath)),
    ("__CSVRead", Some(search::csv)),
    ("__jexl3", Some(|call, scope| script(Language::Jexl3, call, scope))),
    ("__jexl2", Some(|call, scope| script(Language::Jexl2, call, scope))),
    ("__groovy", Some(|call, scope| script(Language::Groovy, call, scope))),
    ("__BeanShell", Some(|call, scope| script(Language::BeanShell, call, scope))),
    ("__javaScript", Some(|call, scope| script(Language::JavaScript, call, scope))),
];

/// A script: what it is worth, also in a variable. One that fails is worth nothing, and the log has why.
fn script(language: Language, call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let value = expression::evaluate_in(language, &text, scope).unwrap_or_else(|error| {
        scope.log("WARN", &format!("Error running {language:?} script: {error}"));
        String::new()
    });
    call.stored(scope, 1, value)
}

#[cfg(test)]
mod tests {
    use crate::sample::SampleView;
    use crate::scope::{MemoryScope, Scope, Shared};
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
            ("${__escapeXml(<a b='\"'>)}", "&lt;a b=&apos;&quot;&apos;&gt;"),
            ("${__escapeHtml(é ü)}", "&eacute; &uuml;"),
            ("${__unescapeHtml(&lt;&eacute;&gt;)}", "<é>"),
            ("${__digest(MD5,ab,c)}", "900150983cd24fb0d6963f7d28e17f72"),
            ("${__timeShift(yyyy-MM-dd,2023-11-14,P2D,,x)} ${x}", "2023-11-16 2023-11-16"),
            ("${__timeShift(,1000,PT-1S,x)}|${x}", "0|0"),
            ("${__timeShift(HH:mm,,PT1H,,)}", "23:13"),
            ("${__timeShift(yyyy-MM-dd,broken,P1D,,)}", "2023-11-15"),
            (
                "${__dateTimeConvert(14-11-2023,dd-MM-yyyy,yyyy/MM/dd,x)} ${x}",
                "2023/11/14 2023/11/14",
            ),
            ("${__dateTimeConvert(1700000000123,,yyyy,)}", "2023"),
            ("${__dateTimeConvert(x,dd,yyyy,)}", ""),
            ("${__RandomDate(,2023-11-14,2023-11-15,,x)} ${x}", "2023-11-14 2023-11-14"),
            ("${__RandomDate(,2023-11-14,2023-11-14,,)}", ""),
            ("${__regexFunction(.,$0$)}", ""),
            (
                "${__regexFunction((.)\\,,<$1$>,ALL,-,D,r,v)} ${r} ${r_g1} ${r_matchNr}",
                "<a>-<b> <b> b 2",
            ),
            ("${__regexFunction(z,$0$,1,,D,,v)}", "D"),
            ("${__iterationNum}", "${__iterationNum}"),
            ("${__machineName(x)} ${__machineIP}", "localhost 127.0.0.1"),
        ] {
            check(written, expect);
        }
    }

    /// A scope with files.
    struct Files(MemoryScope, Vec<(&'static str, &'static str)>);

    impl Scope for Files {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.variable(name)
        }
        fn set_variable(&mut self, name: &str, value: String) {
            self.0.set_variable(name, value);
        }
        fn remove_variable(&mut self, name: &str) {
            self.0.remove_variable(name);
        }
        fn property(&self, name: &str) -> Option<String> {
            self.0.property(name)
        }
        fn set_property(&mut self, name: &str, value: String) -> Option<String> {
            self.0.set_property(name, value)
        }
        fn random(&mut self) -> u64 {
            self.0.random()
        }
        fn unix_ms(&self) -> i64 {
            0
        }
        fn utc_offset_s(&self, _: i64) -> i32 {
            5_400
        }
        fn count(&mut self, call: u64, shared: Shared) -> u64 {
            self.0.count(call, shared)
        }
        fn file(&mut self, path: &str, _: &str) -> Option<String> {
            let found = self.1.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        }
        fn previous_sample(&self, see: &mut dyn FnMut(&SampleView<'_>)) {
            see(&SampleView { text: "id=7 id=88", ..SampleView::default() });
        }
    }

    #[test]
    fn files_and_samples_are_read() {
        let files =
            vec![("p.csv", "ann,31\nbob,42\n\nno,1\n"), ("c.xml", "<a><b>1</b><b>2</b></a>")];
        let mut scope = Files(MemoryScope::default(), files);
        for (written, expect) in [
            ("${__CSVRead(p.csv,0)} ${__CSVRead(p.csv,1)}", "ann 31"),
            ("${__CSVRead(p.csv,next)}${__CSVRead(p.csv,0)}", "bob"),
            ("${__CSVRead(p.csv,next())}${__CSVRead(p.csv,0)}", "ann"),
            ("${__CSVRead(p.csv,9)}${__CSVRead(none,0)}", ""),
            ("${__CSVRead(p.csv,*P)}${__CSVRead(*P,1)}", "31"),
            ("${__XPath(c.xml,//b)}", "1"),
            ("${__XPath(c.xml,//b)}", "2"),
            ("${__XPath(c.xml,//b)}${__XPath(none,//b)}", "1"),
            ("${__regexFunction(id=(\\d+),$1$)}", "7"),
            ("${__regexFunction(id=(\\d+),$1$,2)}", "88"),
            ("${__regexFunction(zz(.),$1$,1,,DEF)}", "DEF"),
            ("${__regexFunction(id=(\\d+),<$1$>,ALL,-)}", "<7>-<88>"),
            ("${__time(HH:mm XXX)}", "01:30 +01:30"),
        ] {
            assert_eq!(Text::parse(written).evaluate(&mut scope), expect, "{written}");
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
