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
use crate::thrown::Thrown;

/// Computes a call in a scope.
#[derive(Clone, Copy, Debug)]
enum Compute {
    /// It has a value whatever its arguments are.
    Sure(fn(&Arguments, &mut dyn Scope) -> String),
    /// Some arguments are refused as JMeter refuses them: by an exception.
    Throws(fn(&Arguments, &mut dyn Scope) -> Result<String, Thrown>),
}

/// How many arguments a function takes: at least, and at most.
type Arity = (usize, usize);
const MANY: usize = usize::MAX;

/// A function of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    name: &'static str,
    arity: Arity,
    compute: Compute,
}

impl Function {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// What is wrong with so many arguments; `None` where it takes them.
    pub(crate) fn misfit(self, count: usize) -> Option<String> {
        let (least, most) = self.arity;
        let name = self.name;
        let wants = match (least, most) {
            _ if (least..=most).contains(&count) => return None,
            (_, MANY) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            _ => format!("{least} to {most}"),
        };
        Some(format!("function {name} called with wrong number of arguments: {count}, not {wants}"))
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

    /// Its value; empty where it throws, which the scope is then given.
    pub(crate) fn call(self, call: &Arguments, scope: &mut dyn Scope) -> String {
        let value = match self.compute {
            Compute::Sure(compute) => Ok(compute(call, scope)),
            Compute::Throws(compute) => compute(call, scope),
        };
        value.unwrap_or_else(|thrown| {
            scope.throw(thrown);
            String::new()
        })
    }
}

/// The function of a name; a name that is none is a variable's.
pub(crate) fn function_of(name: &str) -> Option<Function> {
    let (name, arity, compute) = *FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
    Some(Function { name, arity, compute })
}

const FUNCTIONS: &[(&str, Arity, Compute)] = &[
    ("__P", (1, 2), Compute::Sure(state::p)),
    ("__property", (1, 3), Compute::Sure(state::property)),
    ("__setProperty", (2, 3), Compute::Sure(state::set_property)),
    ("__V", (1, 2), Compute::Sure(state::v)),
    ("__eval", (1, 1), Compute::Sure(|call, _| call.text(0))),
    (
        "__evalVar",
        (1, 1),
        Compute::Sure(|call, scope| scope.variable(&call.text(0)).unwrap_or_default()),
    ),
    (
        "__isVarDefined",
        (1, 1),
        Compute::Sure(|call, scope| {
            let name = call.text(0);
            scope.variable(&name).is_some().to_string()
        }),
    ),
    (
        "__isPropDefined",
        (1, 1),
        Compute::Sure(|call, scope| {
            let name = call.text(0);
            scope.property(&name).is_some().to_string()
        }),
    ),
    ("__split", (2, 3), Compute::Sure(state::split)),
    ("__counter", (1, 2), Compute::Sure(state::counter)),
    ("__threadNum", (0, 0), Compute::Sure(|_, scope| scope.thread_number().to_string())),
    ("__threadGroupName", (0, MANY), Compute::Sure(|_, scope| scope.place(Place::Group))),
    (
        "__samplerName",
        (0, 1),
        Compute::Sure(|call, scope| {
            let text = scope.place(Place::Sampler);
            call.stored(scope, 0, text)
        }),
    ),
    ("__TestPlanName", (0, 0), Compute::Sure(|_, scope| scope.place(Place::Plan))),
    (
        "__machineName",
        (0, 1),
        Compute::Sure(|call, scope| {
            let name = scope.machine_name();
            call.stored(scope, 0, name)
        }),
    ),
    (
        "__machineIP",
        (0, 1),
        Compute::Sure(|call, scope| {
            let address = scope.machine_address();
            call.stored(scope, 0, address)
        }),
    ),
    ("__log", (1, 4), Compute::Sure(state::log)),
    (
        "__logn",
        (1, 3),
        Compute::Sure(|call, scope| {
            state::log(call, scope);
            String::new()
        }),
    ),
    ("__time", (0, 2), Compute::Throws(moments::time)),
    ("__timeShift", (4, 5), Compute::Sure(moments::time_shift)),
    ("__Random", (2, 3), Compute::Throws(numbers::random)),
    ("__RandomString", (1, 3), Compute::Throws(numbers::random_string)),
    ("__RandomFromMultipleVars", (1, 2), Compute::Sure(numbers::random_from_variables)),
    ("__UUID", (0, 0), Compute::Sure(numbers::uuid)),
    ("__intSum", (2, MANY), Compute::Throws(numbers::int_sum)),
    ("__longSum", (2, MANY), Compute::Throws(numbers::long_sum)),
    ("__urlencode", (1, 1), Compute::Sure(|call, _| encode::url_encode(&call.text(0)))),
    ("__urldecode", (1, 1), Compute::Throws(encode::url_decoded)),
    ("__escapeHtml", (1, 1), Compute::Sure(encode::escape_html)),
    ("__escapeXml", (1, 1), Compute::Sure(encode::escape_xml)),
    ("__unescapeHtml", (1, 1), Compute::Sure(|call, _| crate::html::unescape(&call.text(0)))),
    ("__unescape", (1, 1), Compute::Throws(encode::unescape)),
    ("__escapeOroRegexpChars", (1, 2), Compute::Sure(encode::escape_regex)),
    ("__char", (1, MANY), Compute::Sure(encode::char_codes)),
    ("__changeCase", (1, 3), Compute::Sure(encode::change_case)),
    ("__digest", (2, 5), Compute::Sure(encode::digest)),
    ("__StringToFile", (2, 4), Compute::Sure(state::string_to_file)),
    ("__FileToString", (1, 3), Compute::Sure(state::file_to_string)),
    ("__StringFromFile", (1, 4), Compute::Sure(state::string_from_file)),
    ("__RandomDate", (3, 5), Compute::Sure(moments::random_date)),
    ("__dateTimeConvert", (3, 4), Compute::Sure(moments::convert)),
    ("__regexFunction", (2, 7), Compute::Sure(search::regex)),
    ("__XPath", (2, 2), Compute::Sure(search::xpath)),
    ("__CSVRead", (2, 2), Compute::Sure(search::csv)),
    ("__jexl3", (1, 2), Compute::Sure(|call, scope| script(Language::Jexl3, call, scope))),
    ("__jexl2", (1, 2), Compute::Sure(|call, scope| script(Language::Jexl2, call, scope))),
    ("__groovy", (1, 2), Compute::Sure(|call, scope| script(Language::Groovy, call, scope))),
    ("__BeanShell", (1, 2), Compute::Sure(|call, scope| script(Language::BeanShell, call, scope))),
    (
        "__javaScript",
        (1, 2),
        Compute::Sure(|call, scope| script(Language::JavaScript, call, scope)),
    ),
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
    use crate::thrown::Thrown;

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
            ("${__urldecode(a+b%26%C3%A9)}", "a b&é"),
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
            ("[${__setProperty(p, 7 )}${__P(p)}${__property(p)}${__P(nope, d )}]", "[77d]"),
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

    #[test]
    fn functions_write_as_jmeter_does() {
        for (written, expect) in [
            ("${__changeCase(aBc,nope)}${__changeCase(aB,)}${__changeCase(aB, LOWER)}", "aBcABaB"),
            ("${__digest(NOPE,abc)} ${__digest(MD5 ,abc)}", "null null"),
            ("${__digest(sha-224,ä)}", "cbb9f3a6213c49e6586745b34dcf084c0567580de1bd587423a76956"),
            ("${__split(,s)}${s_n}", "0"),
            ("${__setProperty(p1,one)}${__P( p1 )}${__P( p1 ,d)}", "1d"),
            ("${__isVarDefined( v)}", "false"),
            ("${__unescape(\\\\b\\\\101\\\\u0041)}", "\u{8}AA"),
        ] {
            check(written, expect);
        }
    }

    #[test]
    fn issue_44_functions_throw() {
        const NUMBER: &str = "java.lang.NumberFormatException";
        const ARGUMENT: &str = "java.lang.IllegalArgumentException";
        for (written, class, message) in [
            ("${__longSum(1,zz,3)}", NUMBER, "For input string: \"zz\""),
            ("${__intSum( 1 ,2)}", NUMBER, "For input string: \" 1 \""),
            ("${__intSum(1,3000000000,x)}", NUMBER, "For input string: \"3000000000\""),
            ("${__Random(9,1)}", ARGUMENT, "bound must be greater than origin"),
            ("${__Random(a,b)}", NUMBER, "For input string: \"a\""),
            ("${__RandomString(x,abc)}", NUMBER, "For input string: \"x\""),
            (
                "${__RandomString(-1,abc)}",
                ARGUMENT,
                "Requested random string length -1 is less than 0.",
            ),
            (
                "${__urldecode(a%4z)}",
                ARGUMENT,
                "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index 1 in: \"4z\"",
            ),
            ("${__urldecode(%4)}", ARGUMENT, "URLDecoder: Incomplete trailing escape (%) pattern"),
            ("${__time(bbbb)}", ARGUMENT, "Unable to parse date format bbbb"),
            ("${__V(x${__time(yyyyT)})}", ARGUMENT, "Unable to parse date format yyyyT"),
            (
                "${__unescape(\\\\u00)}",
                ARGUMENT,
                "Less than 4 hex digits in unicode value: '\\u00' due to end of CharSequence",
            ),
        ] {
            let mut scope = MemoryScope::default();
            Text::parse(written).evaluate(&mut scope);
            let thrown = scope.thrown.expect(written);
            assert_eq!((thrown.class, thrown.message.as_str()), (class, message), "{written}");
        }
    }

    #[test]
    fn issue_44_calls_that_are_wrong_are_found() {
        for (written, expect) in [
            (
                "${__Random(1)}",
                "function __Random called with wrong number of arguments: 1, not 2 to 3",
            ),
            ("a${__UUID(x)}", "function __UUID called with wrong number of arguments: 1, not 0"),
            (
                "${__char()}",
                "function __char called with wrong number of arguments: 0, not at least 1",
            ),
            (
                "${__V(${__V()})}",
                "function __V called with wrong number of arguments: 0, not 1 to 2",
            ),
            (
                "${__changeCase(a)b,UPPER)}",
                "a function's call does not end with )}: ${__changeCase(a)b,UPPER)}",
            ),
        ] {
            assert_eq!(Text::parse(written).wrong_calls(), [expect], "{written}");
        }
        for written in
            ["${__time}${__time()}${__threadGroupName(1,2)}", "${__nope()}", "${a", "\\${__V()}"]
        {
            assert_eq!(Text::parse(written).wrong_calls(), [""; 0], "{written}");
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
        fn throw(&mut self, thrown: Thrown) {
            self.0.throw(thrown);
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
