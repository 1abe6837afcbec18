//! Scripts with what they are worth and what they do.

use super::{Bindings, Language, ScopeContext, Script, ScriptError, ScriptLimit, ScriptProblem};
use crate::scope::{MemoryScope, Scope};

/// Runs a script in a scope; its value as a text, or why it failed.
fn run_in(scope: &mut MemoryScope, language: Language, text: &str) -> Result<String, String> {
    let script = Script::parse(language, text).map_err(|problems| problems[0].to_string())?;
    let mut bindings = Bindings::standard();
    let value = script.run(&mut ScopeContext(scope), &mut bindings);
    value.map(|value| value.to_string()).map_err(|error| error.to_string())
}

fn scope() -> MemoryScope {
    let mut scope = MemoryScope::default();
    scope.unix_ms = 1_700_000_000_123;
    scope.set_variable("v", "x".to_owned());
    scope.set_variable("n", "5".to_owned());
    scope.set_property("p", "property".to_owned());
    scope
}

#[track_caller]
fn check(language: Language, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expect) in cases {
        let result = run_in(&mut scope(), language, text);
        if result.as_deref() != Ok(*expect) {
            wrong.push(format!("{text}\n    {result:?} in place of {expect:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn groovy_computes() {
    check(
        Language::Groovy,
        &[
            ("1 + 2 * 3", "7"),
            ("10 / 4", "2.5"),
            ("6 / 2", "3"),
            ("1 / 3", "0.3333333333"),
            ("0.1 + 0.2", "0.3"),
            ("7 % 3", "1"),
            ("2 ** 10", "1024"),
            ("(7 / 2) as int", "3"),
            ("2147483647 + 1", "-2147483648"),
            ("2147483648 + 1", "2147483649"),
            ("10.intdiv(4)", "2"),
            ("-5.abs()", "-5"),
            ("1.5d * 2", "3.0"),
            ("Math.max(3, 4) + Math.round(2.5)", "7"),
            ("5 > 3 && !(2 > 3) || false", "true"),
            ("1 <=> 2", "-1"),
            ("'a' < 'b'", "true"),
            ("5 == 5.0", "true"),
            ("1 == '1'", "false"),
            ("null ?: 'x'", "x"),
            ("'' ?: 'empty'", "empty"),
            ("true ? 1 : 2", "1"),
            ("7 & 3 | 8", "11"),
            ("1 << 4", "16"),
            ("0xFF", "255"),
            ("1_000L", "1000"),
            ("'5' as Integer", "5"),
            ("'abc' * 2", "abcabc"),
            ("int x = 3.7; x", "3"),
            ("def (a, b) = [1, 2]; a + b", "3"),
            ("def x = 5; x += 2; x++; x", "8"),
            ("def x = 5; def y = x++; y + x", "11"),
            ("(String) 5 + 1", "51"),
        ],
    );
}

#[test]
fn groovy_has_javas_numbers() {
    check(
        Language::Groovy,
        &[
            ("010 + 0", "8"),
            ("0 + 00", "0"),
            ("'' + 1e-5", "0.00001"),
            ("1e3 == 1000", "true"),
            ("1.10 + 0", "1.10"),
            ("(short) 70000", "4464"),
            ("(2.5).setScale(0, java.math.RoundingMode.HALF_EVEN)", "2"),
            ("(2.55).setScale(1, BigDecimal.ROUND_DOWN)", "2.5"),
            ("2.5.setScale(0, RoundingMode.CEILING)", "3"),
            (
                "try { 2.5.setScale(0) } catch (ArithmeticException e) { e.message }",
                "Rounding necessary",
            ),
            ("new BigInteger('12') + 1", "13"),
            ("int n; n + 1", "1"),
            ("Integer n = null; n", "null"),
            ("null as Integer", "null"),
            (
                "try { int n = null; n } catch (e) { e.message }",
                "Cannot cast object 'null' with class 'null' to class 'int'. Try 'java.lang.Integer' instead",
            ),
            ("try { null as long } catch (e) { 'thrown' }", "thrown"),
            ("try { (double) vars.get('none') } catch (e) { 'thrown' }", "thrown"),
            ("def a = new int[2]; a[0]", "0"),
            (
                "String.format('%e|%.1E|%+.2e', 12345.678, 0.00012, 1.0)",
                "1.234568e+04|1.2E-04|+1.00e+00",
            ),
        ],
    );
}

#[test]
fn groovy_writes_json_in_its_order() {
    check(
        Language::Groovy,
        &[
            (
                "JsonOutput.toJson(new JsonSlurper().parseText('{\"z\":1,\"a\":2.50}'))",
                "{\"z\":1,\"a\":2.50}",
            ),
            ("new JsonSlurper().parseText('{\"a\":1.10}').a", "1.10"),
            ("JsonOutput.toJson(new Date(0))", "\"1970-01-01T00:00:00+0000\""),
            ("JsonOutput.prettyPrint('{}')", "{\n    \n}"),
            (
                "JsonOutput.prettyPrint('{\"z\":[],\"a\":\"x, {y}\"}')",
                "{\n    \"z\": [\n        \n    ],\n    \"a\": \"x, {y}\"\n}",
            ),
        ],
    );
}

#[test]
fn groovy_has_javas_collections() {
    check(
        Language::Groovy,
        &[
            ("[[1, 2], [3, 4, 5]].transpose()", "[[1, 3], [2, 4]]"),
            ("[1, 2, 3].findResults { it > 1 ? it * 10 : null }", "[20, 30]"),
            ("[1, 2, 1].dropWhile { it < 2 }", "[2, 1]"),
            ("def a = [3, 1]; def b = a.sort(false); '' + a + b", "[3, 1][1, 3]"),
            ("['a', 'b'].indexed().toString()", "[0:a, 1:b]"),
            ("[a: 1, b: 2].inject(0) { s, k, v -> s + v }", "3"),
            ("[a: 1, b: 2].minus([a: 1, b: 3]).toString()", "[b:2]"),
            ("(1..3).collect()", "[1, 2, 3]"),
            ("[1, 2, 3][-1..0]", "[3, 2, 1]"),
            ("[1, 2, 3][1..-1]", "[2, 3]"),
            ("'abcdef'[0, 2] + 'abcdef'[2..0] + 'abcdef'[-2..-1] + 'abc'[1]", "accbaefb"),
            ("new TreeMap([b: 1, a: 2]).toString() + new TreeSet(['b', 'a'])", "[a:2, b:1][a, b]"),
            ("[[x: [y: 1]]].toString() + String.valueOf([[x: 1]])", "[[x:[y:1]]][{x=1}]"),
            ("\"${[a: [b: [:]]]}\"", "[a:[b:[:]]]"),
            ("[a: 1].toMapString()", "[a:1]"),
            ("Collections.nCopies(2, 'a')", "[a, a]"),
            ("[1, 2].stream().mapToInt { it }.sum() + 'abc'.chars().count()", "6"),
            ("'x'.getClass().getSimpleName()", "String"),
            ("File.separator + 'a'", "/a"),
        ],
    );
}

#[test]
fn groovy_has_javas_codes_and_moments() {
    check(
        Language::Groovy,
        &[
            ("Base64.getUrlEncoder().withoutPadding().encodeToString('a?>b'.bytes)", "YT8-Yg"),
            ("Base64.getEncoder().withoutPadding().encodeToString('a'.bytes)", "YQ"),
            ("org.apache.commons.codec.binary.Base64.encodeBase64String('a'.bytes)", "YQ=="),
            (
                "new String(org.apache.commons.codec.binary.Base64.encodeBase64('a'.getBytes()))",
                "YQ==",
            ),
            ("new String(org.apache.commons.codec.binary.Base64.decodeBase64('YQ=='))", "a"),
            (
                "new Date(0).format('yyyy-MM-dd HH:mm', TimeZone.getTimeZone('GMT+2'))",
                "1970-01-01 02:00",
            ),
            ("java.time.LocalDateTime.of(2020, 1, 1, 10, 0).toString()", "2020-01-01T10:00"),
            ("java.time.LocalTime.of(10, 0, 5).toString()", "10:00:05"),
        ],
    );
}

#[test]
fn groovy_has_texts() {
    check(
        Language::Groovy,
        &[
            ("def n = 42; \"n=${n} ${n + 1} $n.\"", "n=42 43 42."),
            ("def m = [a: [b: 1]]; \"$m.a.b\"", "1"),
            ("'it\\'s $x'", "it's $x"),
            ("'''two\nlines'''", "two\nlines"),
            ("\"\"\"a ${1 + 1}\nb\"\"\"", "a 2\nb"),
            ("/a\\d+/", "a\\d+"),
            ("\"price: \\$5\"", "price: $5"),
            ("'abc'.length() + 'abc'.size()", "6"),
            ("'abcdef'.substring(1, 3) + 'abc'[0] + 'abcdef'[-2..-1]", "bcaef"),
            ("'a-b-c'.replace('-', '+').toUpperCase()", "A+B+C"),
            ("'a1b22'.replaceAll(/\\d+/, '<$0>')", "a<1>b<22>"),
            ("'a1b2'.replaceAll('[0-9]', { '#' })", "a#b#"),
            ("'a,b,,c,,'.split(',').length", "4"),
            ("'a,b'.split(',')[1]", "b"),
            ("'a b  c'.tokenize(' ').join('|')", "a|b|c"),
            ("' x '.trim() + '|' + '7'.padLeft(3, '0') + 'ab'.padRight(4, '.')", "x|007ab.."),
            ("'hello'.capitalize() + 'hello'.reverse()", "Helloolleh"),
            ("'hello world'.contains('wor') && 'abc'.startsWith('a')", "true"),
            ("'abc' ==~ /[a-c]+/", "true"),
            ("def m = 'id=42;id=7' =~ /id=(\\d+)/; m[0][1] + m[1][1] + m.count", "4272"),
            ("def m = 'id=42' =~ /id=(\\d+)/; m.find() ? m.group(1) : 'none'", "42"),
            ("('abc' =~ /z/) ? 'yes' : 'no'", "no"),
            (
                "String.format('%05d|%.2f|%s|%x|%-3s|', 42, 3.14159, 'x', 255, 'a')",
                "00042|3.14|x|ff|a  |",
            ),
            ("'abc'.bytes.length", "3"),
            ("'abc'.each { }; 'abc'.collect { it.toUpperCase() }.join('')", "ABC"),
            ("'null: ' + null", "null: null"),
            ("'3'.toInteger() + '4'.toLong() + '1.5'.toDouble()", "8.5"),
            ("'x'.equals('x') && 'x'.equalsIgnoreCase('X')", "true"),
            ("'abc'.indexOf('c') + 'abc'.indexOf('z')", "1"),
            ("'12'.isNumber() && !'x'.isInteger()", "true"),
            ("'abc'.hashCode()", "96354"),
            ("'a-b'.minus('-') + ('abc' - 'b')", "abac"),
        ],
    );
}

#[test]
fn groovy_has_lists_maps_and_closures() {
    check(
        Language::Groovy,
        &[
            ("[1, 2, 3].collect { it * 2 }", "[2, 4, 6]"),
            ("[1, 2, 3].findAll { it > 1 }.sum()", "5"),
            ("[3, 1, 2].sort()", "[1, 2, 3]"),
            ("[3, 1, 2].sort { a, b -> b <=> a }", "[3, 2, 1]"),
            ("['bb', 'a'].sort { it.length() }", "[a, bb]"),
            ("[1, 2, 3].inject(0) { sum, x -> sum + x }", "6"),
            ("def l = []; l << 1; l.add(2); l += 3; l", "[1, 2, 3]"),
            ("def l = [1, 2, 3, 4]; l[1..-1] + l[0] + l[-1]", "[2, 3, 4, 1, 4]"),
            ("[1, 2, 3][5]", "null"),
            ("(1..5).step(2) + (1..3).toList()", "[1, 3, 5, 1, 2, 3]"),
            ("(1..<4).collect { it }", "[1, 2, 3]"),
            ("def s = 0; for (i in 1..4) { s += i }; s", "10"),
            ("def s = 0; for (int i = 0; i < 5; i++) { if (i == 3) continue; s += i }; s", "7"),
            ("def s = ''; 3.times { s += it }; s", "012"),
            (
                "def m = [a: 1, 'b': 2]; m.c = 3; m['d'] = 4; m.put('e', 5); m",
                "{a=1, b=2, c=3, d=4, e=5}",
            ),
            ("\"${[a: 1]} ${[1, 'x']}\"", "[a:1] [1, x]"),
            ("def m = [a: 1]; m.each { k, v -> m[k] = v + 1 }; m.a", "2"),
            ("[a: 1, b: 2].collect { k, v -> k + v }.join(',')", "a1,b2"),
            ("[a: 1].collect { it.key + it.value }", "[a1]"),
            ("[a: 1, b: 2].findAll { k, v -> v > 1 }", "{b=2}"),
            ("def m = [:]; m.isEmpty() && !m", "true"),
            ("[[n: 'x'], [n: 'y']].n", "[x, y]"),
            ("[[n: 'x'], [n: 'y']]*.n.join('')", "xy"),
            ("['a', 'b']*.toUpperCase()", "[A, B]"),
            ("null?.foo?.bar", "null"),
            ("def f = { a, b = 2 -> a * b }; f(3) + f(3, 3)", "15"),
            ("def add = { x -> { y -> x + y } }; add(1)(2)", "3"),
            ("def f(int n) { n < 2 ? 1 : n * f(n - 1) }\nf(10)", "3628800"),
            ("def c = 0; def f = { c++ }; f(); f.call(); c", "2"),
            ("[1, [2, [3]]].flatten()", "[1, 2, 3]"),
            ("[1, 1, 2].unique().size() + ([1, 2] as Set).size()", "4"),
            ("[1, 2, 3].any { it > 2 } && [1, 2].every { it > 0 }", "true"),
            ("[1, 2, 3].find { it > 1 }", "2"),
            (
                "['x', 'y'].eachWithIndex { v, i -> if (i == 1) { v } }; ['x', 'y'].withIndex()",
                "[[x, 0], [y, 1]]",
            ),
            ("['a', 'b', 'a'].countBy { it }", "{a=2, b=1}"),
            ("[1, 2, 3, 4].groupBy { it % 2 }", "{1=[1, 3], 0=[2, 4]}"),
            ("[1, 2].contains(2) && 3 in [3] && !(4 in [3])", "true"),
            ("def list = ['a', 'b'] as String[]; list.length", "2"),
            ("[1, 2, 3].max() + [1, 2, 3].min()", "4"),
            ("[1, 2, 3, 4, 5].collate(2)", "[[1, 2], [3, 4], [5]]"),
            (
                "def it = [1, 2].iterator(); def s = 0; while (it.hasNext()) { s += it.next() }; s",
                "3",
            ),
            ("Arrays.asList(3, 4).get(1)", "4"),
            (
                "def m = new HashMap<String, List<Integer>>(); m.computed = [1]; m.getOrDefault('x', 7)",
                "7",
            ),
            ("[b: 1, a: 2].sort { it.key }", "{a=2, b=1}"),
            ("[1, 2, 3].take(2) + [1, 2, 3].drop(2)", "[1, 2, 3]"),
        ],
    );
}

#[test]
fn groovy_has_statements() {
    check(
        Language::Groovy,
        &[
            ("if (true)\n  1\nelse\n  2", "1"),
            ("def x = 3\nif (x == 1) { 'a' } else if (x == 3) { 'b' } else { 'c' }", "b"),
            (
                "def x = 'k'; switch (x) { case 'j': return 1; case ['k', 'l']: return 2; default: return 3 }",
                "2",
            ),
            ("switch (5) { case 1..4: return 'low'; case { it > 4 }: return 'high' }", "high"),
            ("def i = 0; while (true) { i++; if (i > 4) break }; i", "5"),
            ("def i = 0; do { i++ } while (i < 3); i", "3"),
            (
                "try { Integer.parseInt('x') } catch (NumberFormatException e) { e.message }",
                "For input string: \"x\"",
            ),
            ("try { null.foo() } catch (e) { e.class.simpleName }", "NullPointerException"),
            (
                "try { throw new IllegalStateException('s') } catch (IllegalArgumentException | IllegalStateException e) { e.getMessage() } finally { 1 }",
                "s",
            ),
            ("try { 1 / 0 } catch (ArithmeticException e) { e.getMessage() }", "Division by zero"),
            ("def s = ''; for (e in [a: 1]) { s += e.key }; s", "a"),
            ("String s = 5; s + 1", "51"),
            ("final def List<String> l = ['x']; l[0]", "x"),
            ("println 'x'\nlog.info \"y\"\n3", "3"),
            ("// comment\n/* another\n*/ 1 // end", "1"),
            ("def a = 1,\n    b = 2\na + b", "3"),
            ("'a'\n  .concat('b')\n  .concat('c')", "abc"),
            ("def x = true &&\n  false\nx", "false"),
            ("5 instanceof Integer && 'x' instanceof String && !(5 instanceof String)", "true"),
            ("assert 1 == 1 : 'no'\n'ok'", "ok"),
            ("def f() { return 'f' }\nString g(String a) { a + f() }\ng('x')", "xf"),
            ("x = 5; def h() { x + 1 }; h()", "6"),
        ],
    );
}

#[test]
fn classes_of_the_table_are_there() {
    check(
        Language::Groovy,
        &[
            ("UUID.randomUUID().toString().length()", "36"),
            ("java.util.UUID.randomUUID().toString()[14]", "4"),
            ("import java.util.UUID as U\nU.randomUUID().toString().size()", "36"),
            ("System.currentTimeMillis()", "1700000000123"),
            ("new Date(0).format('yyyy-MM-dd')", "1970-01-01"),
            ("new java.text.SimpleDateFormat(\"yyyy\").format(new Date(0))", "1970"),
            ("new SimpleDateFormat('dd/MM/yyyy').parse('14/11/2023').getTime()", "1699920000000"),
            (
                "def c = Calendar.getInstance(); c.add(Calendar.DAY_OF_MONTH, 20); new SimpleDateFormat('yyyy-MM-dd').format(c.getTime())",
                "2023-12-04",
            ),
            (
                "def c = Calendar.instance; c.setTime(new Date()); c.add(Calendar.MONTH, 3); c.time.format('yyyy-MM-dd')",
                "2024-02-14",
            ),
            ("java.time.LocalDate.of(2024, 1, 31).plusMonths(1).toString()", "2024-02-29"),
            (
                "LocalDateTime.now().format(DateTimeFormatter.ofPattern('yyyyMMddHHmmss'))",
                "20231114221320",
            ),
            ("Instant.now().toString()", "2023-11-14T22:13:20.123Z"),
            ("LocalDate.parse('2024-03-01').minusDays(1)", "2024-02-29"),
            ("ChronoUnit.DAYS.between(LocalDate.of(2024, 1, 1), LocalDate.of(2024, 2, 1))", "31"),
            ("(new Date() + 1).time - new Date().time", "86400000"),
            ("new Random().nextInt(1)", "0"),
            ("new Random(42).nextInt(100)", "30"),
            ("new Random(42).nextInt()", "-1170105035"),
            (
                "def sb = new StringBuilder(); sb.append('a').append(1); sb << 'b'; sb.toString() + sb.length()",
                "a1b3",
            ),
            ("'abc'.bytes.encodeBase64().toString()", "YWJj"),
            ("Base64.encoder.encodeToString('abc'.getBytes('UTF-8'))", "YWJj"),
            ("new String(Base64.getDecoder().decode('YWJj'))", "abc"),
            (
                "MessageDigest.getInstance('MD5').digest('abc'.bytes).encodeHex().toString()",
                "900150983cd24fb0d6963f7d28e17f72",
            ),
            (
                "import org.apache.commons.codec.digest.DigestUtils\nDigestUtils.md5Hex('abc')",
                "900150983cd24fb0d6963f7d28e17f72",
            ),
            (
                "def mac = Mac.getInstance('HmacSHA256'); mac.init(new SecretKeySpec('key'.bytes, 'HmacSHA256')); mac.doFinal('The quick brown fox jumps over the lazy dog'.bytes).encodeHex()",
                "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
            ),
            (
                "URLEncoder.encode('a b&c', 'UTF-8') + URLDecoder.decode('a+b', 'UTF-8')",
                "a+b%26ca b",
            ),
            (
                "def j = new groovy.json.JsonSlurper().parseText('{\"a\": {\"b\": [1, 2.5, null, true]}}'); j.a.b[1] + j.a.b.size()",
                "6.5",
            ),
        ],
    );
}

#[test]
fn more_classes_of_the_table_are_there() {
    check(
        Language::Groovy,
        &[
            (
                "groovy.json.JsonOutput.toJson([k: 'v', l: [1, true, null]])",
                "{\"k\":\"v\",\"l\":[1,true,null]}",
            ),
            ("new JsonBuilder([a: 1]).toString()", "{\"a\":1}"),
            ("JsonOutput.prettyPrint('{\"a\":[1]}')", "{\n    \"a\": [\n        1\n    ]\n}"),
            ("Integer.parseInt('41') + Integer.valueOf('1') + Long.parseLong('1')", "43"),
            ("Integer.MAX_VALUE", "2147483647"),
            ("Integer.toHexString(255) + Integer.toString(5)", "ff5"),
            ("String.valueOf(5) + String.join('-', ['a', 'b'])", "5a-b"),
            ("new BigDecimal('1.10').add(new BigDecimal('2'))", "3.10"),
            ("new AtomicInteger(5).incrementAndGet()", "6"),
            ("RandomStringUtils.randomAlphabetic(8).length()", "8"),
            ("StringUtils.isBlank(' ') && StringUtils.isNotEmpty('x')", "true"),
            ("new ArrayList<String>(['a']).size() + new LinkedHashSet([1, 1]).size()", "2"),
            ("Collections.max([1, 5, 3])", "5"),
            ("TimeUnit.SECONDS.toMillis(2)", "2000"),
            ("def l = new int[3]; l[1] = 5; l", "[0, 5, 0]"),
            (
                "def p = Pattern.compile('(\\\\d+)'); def m = p.matcher('a12'); m.find(); m.group(1)",
                "12",
            ),
        ],
    );
}

#[test]
fn beanshell_is_javas() {
    check(
        Language::BeanShell,
        &[
            ("1 + 2", "3"),
            ("vars.get(\"v\") + \"!\"", "x!"),
            ("\"abc\".substring(1)", "bc"),
            ("Integer.parseInt(\"41\") * 2", "82"),
            ("int n = 3; String s = \"v\" + n; vars.put(\"b\", s); vars.get(\"b\");", "v3"),
            ("7 / 2", "3"),
            ("10 / 4.0", "2.5"),
            ("String a = \"x\"; String b = new String(\"x\"); a == b", "false"),
            ("\"x\".equals(vars.get(\"v\"))", "true"),
            ("char c = 'a'; c", "a"),
            ("String[] parts = \"a,b\".split(\",\"); return parts.length;", "2"),
            (
                "int[] a = {1, 2, 3}; int s = 0; for (int i = 0; i < a.length; i++) { s += a[i]; } s;",
                "6",
            ),
            ("for (String x : \"a b\".split(\" \")) { print(x); } 1;", "1"),
            ("import java.util.*; List l = new ArrayList(); l.add(\"x\"); l.get(0);", "x"),
            ("int f(int a) { return a * 2; } f(4);", "8"),
            ("if (1 == 1) { x = \"y\"; } else { x = \"n\"; } x;", "y"),
            (
                "try { Integer.parseInt(\"q\"); } catch (Exception e) { log.error(\"bad\", e); } 5;",
                "5",
            ),
            (
                "StringBuilder sb = new StringBuilder();\nsb.append(\"a\")\n  .append(\"b\");\nreturn sb.toString();",
                "ab",
            ),
            ("Map m = new HashMap(); m.put(\"k\", 1); m.get(\"k\");", "1"),
            ("double d = 5; d / 2", "2.5"),
            ("(int) 3.9 + (int) Math.floor(2.5)", "5"),
            ("import org.apache.jmeter.services.FileServer; 1;", "1"),
        ],
    );
    let error = run_in(&mut scope(), Language::BeanShell, "x = ;");
    assert_eq!(error, Err("line 1: not understood at \";\"".to_owned()));
}

#[test]
fn jexl_is_lenient_where_jexl_is() {
    check(
        Language::Jexl3,
        &[
            ("1 + 2 * 3", "7"),
            ("10 / 4", "2"),
            ("\"a\" + 1", "a1"),
            ("not true or 1 eq 1", "true"),
            ("size(\"four\")", "4"),
            ("var q = 3; q * q", "9"),
            ("\"x\" =~ \"[a-z]\"", "true"),
            ("\"5\" == 5 && 5 > \"4\"", "true"),
            ("vars.get('v')", "x"),
            ("\"abc\".length()", "3"),
            ("empty('') && !empty('x')", "true"),
            ("1 < 2 ? 'yes' : 'no'", "yes"),
            ("'ab' =^ 'a' and 'ab' =$ 'b'", "true"),
            ("if (vars.get('n') == '5') { 'five' } else { 'other' }", "five"),
            ("'10' * 2", "20"),
            ("[1, 2, 3][1] + {'a': 5}.get('a')", "7"),
            ("7 mod 4 + 8 div 2", "7"),
        ],
    );
    check(Language::Jexl2, &[("\"5\" + 1", "6"), ("10 / 4", "2")]);
    check(Language::Jexl3, &[("\"5\" + 1", "51")]);
}

#[test]
fn javascript_has_its_common_part() {
    check(
        Language::JavaScript,
        &[
            ("1 + 2", "3"),
            ("\"x\".toUpperCase()", "X"),
            ("Math.max(3,4)", "4"),
            ("Math.floor(7/2)", "3"),
            ("'a' + 'b'", "ab"),
            ("10/4", "2.5"),
            ("parseInt('12') * 2", "24"),
            ("5 > 3 ? 'y' : 'n'", "y"),
            ("'1' + 2 + 3", "123"),
            ("'6' / '2'", "3"),
            ("1 == '1' && 1 !== '1'", "true"),
            ("var a = [1, 2]; a.push(3); a.length", "3"),
            ("var o = {a: 1, 'b': [2]}; o.a + o.b[0]", "3"),
            ("function f(x) { return x * 2 } f(4)", "8"),
            ("var s = 0; for (var i = 0; i < 3; i++) { s += i } s", "3"),
            ("JSON.parse('{\"a\": 5}').a", "5"),
            ("JSON.stringify({a: [1]})", "{\"a\":[1]}"),
            ("'a1b2'.replace(/[0-9]/g, '#')", "a#b#"),
            ("[1, 2, 3].map(x => x * 2).join('-')", "2-4-6"),
            ("vars.put('z', 'q'); vars.get('z')", "q"),
            ("typeof undefinedName", "undefined"),
            ("(0.5).toFixed(2)", "0.50"),
            ("'' || 'fallback'", "fallback"),
            ("encodeURIComponent('a b')", "a%20b"),
            ("new java.util.Date(0).getTime()", "0"),
        ],
    );
}

#[test]
fn threads_are_read_and_set() {
    let mut scope = scope();
    let text = "vars.put('a', \"${1 + 1}\"); props.put('q', vars.get('v')); vars.remove('n'); \
        def o = vars.get('none') == null; vars.put('o', o.toString()); vars.b = 'member'; \
        vars.put('t', '' + ctx.threadNum + ctx.getVariables().get('v') + props.p)";
    run_in(&mut scope, Language::Groovy, text).expect("it runs");
    for (name, expect) in [
        ("a", Some("2")),
        ("n", None),
        ("o", Some("true")),
        ("b", Some("member")),
        ("t", Some("-1xproperty")),
    ] {
        assert_eq!(scope.variable(name).as_deref(), expect, "{name}");
    }
    assert_eq!(scope.property("q").as_deref(), Some("x"));
    let put = run_in(&mut scope, Language::Groovy, "vars.put('a', 5)");
    assert!(put.is_err_and(|error| error.contains("No signature of method")));
}

#[test]
fn names_without_a_declaration_are_the_elements() {
    let script =
        Script::parse(Language::BeanShell, "if (ResponseCode.equals(\"200\")) { Failure = true; }");
    let mut bindings =
        Bindings::standard().with("ResponseCode", "200".into()).with("Failure", false.into());
    let mut scope = scope();
    script.expect("a script").run(&mut ScopeContext(&mut scope), &mut bindings).expect("it runs");
    assert!(bindings.get("Failure").is_some_and(super::Value::is_true));
}

#[test]
fn what_fails_has_its_words_and_its_line() {
    for (text, expect, line) in [
        ("throw new RuntimeException('boom')", "java.lang.RuntimeException: boom", 1),
        (
            "\nundefinedThing.foo()",
            "groovy.lang.MissingPropertyException: No such property: undefinedThing for class: Script1",
            2,
        ),
        ("int x = 1 / 0", "java.lang.ArithmeticException: Division by zero", 1),
        (
            "1\n2\n'a'.nosuch(1)",
            "groovy.lang.MissingMethodException: No signature of method: java.lang.String.nosuch() is applicable for argument types: (Integer) values: [1]",
            3,
        ),
        ("null.x()", "java.lang.NullPointerException: Cannot invoke method x() on null object", 1),
        (
            "[1].get(3)",
            "java.lang.IndexOutOfBoundsException: Index 3 out of bounds for length 1",
            1,
        ),
        (
            "'ls'.execute()",
            "groovy.lang.MissingMethodException: No signature of method: java.lang.String.execute() is applicable for argument types: () values: []",
            1,
        ),
    ] {
        let script = Script::parse(Language::Groovy, text).expect("a script");
        let error = script.run(&mut ScopeContext(&mut scope()), &mut Bindings::standard());
        let error = error.expect_err("it fails");
        assert_eq!((error.to_string().as_str(), error.line()), (expect, line), "{text}");
    }
}

#[test]
fn what_is_not_understood_is_named_before_the_run() {
    for (text, expect) in [
        (
            "def x = new File('/etc/passwd')",
            "line 1: the class File is not supported: scripts reach no files, processes or networks",
        ),
        ("\n\nFoo.bar()", "line 3: the class Foo is not supported"),
        ("new com.acme.Helper().x()", "line 1: the class Helper is not supported"),
        (
            "Runtime.getRuntime().exec('ls')",
            "line 1: the class Runtime is not supported: scripts reach no files, processes or networks",
        ),
        ("class A { }", "line 1: classes of a script's own are not supported"),
        ("@Grab('x:y:1')\nimport x.Y", "line 1: annotations such as @Grab are not supported"),
        ("if (", "line 1: not understood at \"the end\""),
        ("def x = 'open", "line 1: a text begins and does not end"),
        ("/* open", "line 1: a comment begins and does not end"),
        ("a b c d +", "line 1: not understood at \"c\""),
    ] {
        let problems = Script::parse(Language::Groovy, text).expect_err("a problem");
        assert_eq!(problems[0].to_string(), expect, "{text}");
    }
    let both = Script::parse(Language::Groovy, "Foo.a(); Bar.b()").expect_err("two problems");
    assert_eq!(both.len(), 2);
    assert!(
        Script::check(Language::Groovy, "if (${count} > 5) { vars.put('x', \"${y}\") }").is_empty()
    );
    assert_eq!(Script::check(Language::Groovy, "Foo.a(${x})").len(), 1);
}

#[test]
fn endless_scripts_end() {
    for (text, expect) in [
        ("while (true) { }", ScriptLimit::Steps),
        ("for (;;) { }", ScriptLimit::Steps),
        ("def s = 'x'; while (true) { s = s + s }", ScriptLimit::Memory),
        ("def l = [1]; while (true) { l.addAll(l) }", ScriptLimit::Memory),
        ("'x' * 2000000000", ScriptLimit::Memory),
        ("(1..2000000000).each { }", ScriptLimit::Memory),
        ("new int[2000000000]", ScriptLimit::Memory),
        ("def f() { f() }; f()", ScriptLimit::Depth),
        ("def c; c = { c() }; c()", ScriptLimit::Depth),
        ("try { while (true) { } } catch (Throwable t) { 1 } finally { 2 }", ScriptLimit::Steps),
        (
            "def sb = new StringBuilder('x'); while (true) { sb.append(sb.toString()) }",
            ScriptLimit::Memory,
        ),
    ] {
        let script = Script::parse(Language::Groovy, text).expect("a script");
        let error = script.run(&mut ScopeContext(&mut scope()), &mut Bindings::standard());
        assert_eq!(error.expect_err("it ends"), ScriptError::Limit(expect), "{text}");
    }
}

#[test]
fn deep_and_hostile_texts_are_refused() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(1_000), close.repeat(1_000));
    for text in [
        deep("(", ")"),
        deep("[", "]"),
        deep("{", "}"),
        deep("{ x = ", "}"),
        deep("(a = ", ") -> 1"),
        deep("f(", ")"),
        deep("-", ""),
        deep("!", ""),
        deep("if (1) ", ""),
        deep("1 ? ", " : 1"),
        deep("\"${", "}\""),
        deep("for (x = { ", " }) 1"),
        deep("x = ", ""),
        deep("", " as int"),
        deep("", " instanceof Integer"),
    ] {
        for language in
            [Language::Groovy, Language::BeanShell, Language::Jexl3, Language::JavaScript]
        {
            assert!(Script::parse(language, &text).is_err(), "{language:?}: {text:.40}");
        }
    }
    let long = vec!["1"; 20_000].join(" + ");
    assert_eq!(run_in(&mut scope(), Language::Groovy, &long), Ok("20000".to_owned()));
    let chain = "'a'".to_owned() + &".concat('')".repeat(5_000);
    assert_eq!(run_in(&mut scope(), Language::Groovy, &chain), Ok("a".to_owned()));
    let big = " ".repeat(super::SCRIPT_BYTES_MAX + 1);
    assert_eq!(Script::parse(Language::Groovy, &big).expect_err("long"), [ScriptProblem::Long]);
}

#[test]
fn any_letters_come_to_an_end() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "${",
        "$",
        "/",
        "\\",
        "=",
        "->",
        "=>",
        "def ",
        "x",
        " ",
        "\n",
        "1",
        ".",
        "..",
        "?",
        ":",
        "*",
        "new ",
        "String ",
        "<",
        ">",
        ",",
        ";",
        "é",
        "😀",
        "\0",
        "if ",
        "for",
        "in ",
        "0x",
        "1e",
        "'''",
        "`",
        "@",
        "#",
        "~",
        "as ",
        "&",
        "|",
        "null",
        "function ",
    ];
    let mut scope = scope();
    for _ in 0..3_000 {
        let count = scope.random() % 25;
        let text: String =
            (0..count).map(|_| pieces[scope.random() as usize % pieces.len()]).collect();
        for language in
            [Language::Groovy, Language::BeanShell, Language::Jexl2, Language::JavaScript]
        {
            drop(run_in(&mut scope, language, &text));
        }
    }
}
