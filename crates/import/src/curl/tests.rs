//! Command lines and the scripts they become.

use crate::{FileProblem, Files, Import, Input, Kind, ScriptSettings, write_script};

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileProblem> {
        match path {
            "hosts.netrc" => {
                Ok(b"machine b.example login eve password x\ndefault login me password \"a b\""
                    .to_vec())
            }
            _ => Err(FileProblem::NotAllowed),
        }
    }
}

fn import_named(name: &str, text: &str) -> Import {
    crate::import(&input(name, text)).unwrap()
}

fn input<'a>(name: &'a str, text: &'a str) -> Input<'a> {
    Input {
        name,
        text,
        kind: Kind::Curl,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    }
}

/// The requests of a script alone: lines with `http.`.
fn requests(name: &str, text: &str) -> String {
    let script = write_script(&import_named(name, text), &ScriptSettings::default());
    let begin = script.find("export default").unwrap();
    let lines = script[begin..].lines().filter(|line| !line.contains("check("));
    let wanted = lines.filter(|line| line.starts_with("  ") && line.trim() != "let res;");
    wanted.map(str::trim).collect::<Vec<_>>().join("\n")
}

fn check(text: &str, expect: &str) {
    let got = requests("a.sh", text);
    assert!(got.contains(expect), "{text}\nwanted {expect}\ngot {got}");
}

#[test]
fn shell_quotes_become_what_the_shell_makes_of_them() {
    check("curl https://a.example/x", "http.get(`${BASE_URL}/x`");
    check("curl 'https://a.example' -d 'it'\\''s'", "\"it's\"");
    check("curl a.example/x -d $'a\\tb\\x41\\u00e9'", "'a\\tbAé'");
    check("curl \"https://a.example/$ID\" -H 'X: $ID'", "`${BASE_URL}/${ID}`");
    check("ID=7\ncurl \"https://a.example/$ID\"", "`${BASE_URL}/7`");
    check("curl https://a.example/x -d @- <<'E'\n{\"a\": 1}\nE\n", "'{\"a\": 1}'");
    check("echo hi | curl --data-binary @- https://a.example/", "'hi\\n'");
    check("$ curl https://a.example/x \\\n  -d b\nIt's done", "http.post(`${BASE_URL}/x`, 'b'");
    check("for i in 1 2; do curl https://a.example/$i; done", "`${BASE_URL}/2`");
    check("for i in {1..3}; do curl https://a.example/$i; done", "`${BASE_URL}/3`");
    let nested = "for i in 1 2; do for j in a b; do curl https://a.example/$i$j; done; done";
    for path in ["1a", "1b", "2a", "2b"] {
        check(nested, &format!("`${{BASE_URL}}/{path}`"));
    }
}

#[test]
fn windows_has_its_own_quotes() {
    let cmd = "curl ^\"https://a.example/x?a=1^%^20b^\" ^\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"";
    let got = requests("a.txt", cmd);
    assert!(got.contains("http.post(`${BASE_URL}/x?a=1%20b`, '{\"a\":1}'"), "{got}");
    let powershell = "curl.exe -X PUT 'https://a.example/x' `\n  -d 'It''s $5'";
    let got = requests("a.txt", powershell);
    assert!(got.contains("http.put(`${BASE_URL}/x`, \"It's $5\""), "{got}");
}

#[test]
fn options_change_the_request_as_curl_has_it() {
    check("curl -sXDELETE https://a.example/1", "http.del(`${BASE_URL}/1`");
    check("curl -G a.example/s -d a=1 --data-urlencode 'b=c d&'", "`${BASE_URL}/s?a=1&b=c+d%26`");
    check("curl -u me:pa:ss https://a.example/", "encoding.b64encode('me:pa:ss')");
    check(
        "curl --json '{}' https://a.example/",
        "'Content-Type': 'application/json', Accept: 'application/json'",
    );
    check("curl -I https://a.example/", "http.head(");
    check("curl -T pic.png https://a.example/up/", "http.put(`${BASE_URL}/up/pic.png`, picPng");
    check(
        "curl -F 'f=@a.png;type=x/y' https://a.example/",
        "{ name: 'f', filename: 'a.png', type: 'x/y', content: aPng }",
    );
    check("curl -b a=1 -H 'Cookie: b=2' https://a.example/", "Cookie: 'b=2'");
    check("curl 'https://a.example/[1-2]'", "`${BASE_URL}/2`");
    check("curl https://a.example/a/../b/%2e%2e/c", "`${BASE_URL}/c`");
    check("curl --netrc-file hosts.netrc https://a.example/", "'me:a b'");
    check("curl --netrc-file hosts.netrc https://eve@b.example/", "'eve:x'");
    check("curl --netrc-file hosts.netrc https://ada@b.example/", "'ada:'");
    check("curl 'https://a.example/{a\\,b,c}'", "`${BASE_URL}/a,b`");
    check("curl -H $'X-A: 1\\r\\nX-B: 2' https://a.example/", "'X-A': '1', 'X-B': '2'");
    check("curl -z '-1 Jul 2025' https://a.example/", "'Tue, 01 Jul 2025 00:00:00 GMT'");
    check("curl --json @- a.example/ <<E\n{\"n\":`echo 3`}\nE\n", "'{\"n\":3}\\n'");
    check("curl --variable 'a[1-2]=xyzw' --expand-data '{{a}}' https://a.example/x", "'yz'");
    check("curl a.example/1 --next -d x a.example/2", "http.post(`${BASE_URL}/2`, 'x'");
    check("curl --variable 'x=a b' --expand-url 'https://a.example/{{x:url}}'", "/a%20b");
    check("curl -L -X POST -d a=1 https://a.example/", "follow('POST'");
}

#[test]
fn what_is_left_out_is_listed_with_its_place() {
    let import = import_named("a.sh", "# x\ncurl --frob -x http://p:1 -d a https://a.example/\n");
    let notes: Vec<String> =
        import.notes.iter().map(|note| format!("{}: {}", note.place, note.text)).collect();
    assert_eq!(
        notes,
        [
            "a.sh:2: unknown option --frob, left out",
            "a.sh:2: option --proxy left out: no proxy is used"
        ]
    );
    let input = Input {
        name: "a.sh",
        text: "curl 'x",
        kind: Kind::Curl,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    };
    assert_eq!(crate::import(&input).unwrap_err().to_string(), "a.sh:1: the quote ' is not closed");
}

#[test]
fn what_a_shell_would_decide_is_noted() {
    for (text, expect) in [
        ("while true; do curl https://a.example/; done", "while: its commands stand once"),
        (
            "for ((i=0; i<3; i++)); do curl https://a.example/$i; done",
            "for: its commands stand once",
        ),
        ("if true; then curl https://a.example/; fi", "if: the commands of all branches"),
        ("curl https://a.example/ ; wget https://a.example/x", "wget: is not curl"),
        ("curl https://a.example/ | xargs curl", "xargs: is not curl"),
    ] {
        let notes = import_named("a.sh", text).notes;
        let found = notes.iter().any(|note| note.text.starts_with(expect));
        assert!(found, "{text}: {notes:?}");
    }
    let bomb = "A=aaaaaaaaaa\n".to_owned() + &"A=$A$A$A$A$A$A$A$A$A$A\n".repeat(12);
    let notes = import_named("a.sh", &(bomb + "curl https://a.example/$A")).notes;
    assert!(notes.iter().any(|note| note.text.contains("1 MiB")), "{notes:?}");
}

/// Lines that a script must have, and those it must not have.
fn check_all(name: &str, text: &str, expect: &[&str], never: &[&str]) {
    let got = requests(name, text);
    for line in expect {
        assert!(got.contains(line), "{text}\nwanted {line}\ngot {got}");
    }
    for line in never {
        assert!(!got.contains(line), "{text}\nnever {line}\ngot {got}");
    }
}

#[test]
fn a_here_document_is_its_own_commands() {
    for rest in ["", " | jq .", " && echo done", " > out.json", "; echo x"] {
        let text = format!(
            "curl -d @- https://a.example/ <<'E'{rest}\nx=1\nE\ncurl https://a.example/2\n"
        );
        check_all("a.sh", &text, &["http.post(`${BASE_URL}/`, 'x=1'", "/2`"], &[]);
    }
}

#[test]
fn a_caret_before_a_quote_is_not_always_cmd() {
    let text = "curl -H \"X: $T\" https://a.example/1 | grep -o '\"id\": *\"[^\"]*\"'";
    check_all("a.txt", text, &["headers: { X: T }"], &[]);
    check_all("a.txt", "curl https://a.example/1 | sed 's/^\"//'", &["`${BASE_URL}/1`"], &[]);
}

#[test]
fn a_request_in_a_substitution_is_sent_and_its_answer_used() {
    for filter in [
        "jq -r .data.token",
        "jq -r '.data.token // empty'",
        "jq -r '.[\"data\"].token'",
        "python3 -c 'import sys,json; print(json.load(sys.stdin)[\"data\"][\"token\"])'",
        "python -c \"import sys,json; d=json.load(sys.stdin); print(d['data']['token'])\"",
    ] {
        let text = format!(
            "T=$(curl -s -d a=1 https://a.example/login | {filter})\ncurl -H \"X: $T\" https://a.example/me"
        );
        let expect =
            ["http.post(`${BASE_URL}/login`", "found.t = res.json('data.token');", "X: found.t"];
        check_all("a.sh", &text, &expect, &[]);
    }
    for (filter, expect) in [
        ("jq -r '.[0].id'", "res.json('0.id')"),
        (
            "grep -o '\"id\": *\"[^\"]*\"' | cut -d'\"' -f4",
            "between(between(res.body, '\"id\"', '')",
        ),
        ("grep -o '\"id\":[0-9]*' | cut -d: -f2", "res.json('id')"),
        ("sed -E 's/.*\"id\": *\"([^\"]+)\".*/\\1/'", "between(between(res.body, '\"id\"', '')"),
    ] {
        let text = format!("ID=$(curl https://a.example/ | {filter})\ncurl https://a.example/$ID");
        check_all("a.sh", &text, &[&format!("= {expect}"), "}/${found.id}`"], &[]);
    }
    let kept = "R=$(curl https://a.example/)\nA=$(echo \"$R\" | jq -r .a)\nB=$(jq -r .b <<< \"$R\")\n\
        curl https://a.example/$A/$B";
    check_all("a.sh", kept, &["found.a = res.json('a')", "found.b = res.json('b')"], &[]);
    let in_file =
        "curl -o r.json https://a.example/\nA=$(jq -r .a r.json)\ncurl https://a.example/$A";
    check_all("a.sh", in_file, &["found.a = res.json('a')"], &["OUTPUT"]);
    let status = "S=$(curl -s -o /dev/null -w '%{http_code}' https://a.example/)\necho $S";
    check_all("a.sh", status, &["found.s = String(res.status)"], &[]);
    let inline = "curl -H \"X: $(curl https://a.example/ | jq -r .token)\" https://a.example/2";
    check_all("a.sh", inline, &["found.token = res.json('token')", "X: found.token"], &[]);
    let unknown = "A=$(curl https://a.example/ | frob)\nB=$(other)\ncurl https://a.example/$A/$B";
    check_all("a.sh", unknown, &["http.get(`${BASE_URL}/`", "/${OUTPUT}/${OUTPUT2}`"], &[]);
}

#[test]
fn variables_are_changed_as_bash_changes_them() {
    check("F=7.json\ncurl https://a.example/${F%.json}", "`${BASE_URL}/7`");
    check("F=abc\ncurl https://a.example/${F^^}/${#F}/${F:0:2}", "`${BASE_URL}/ABC/3/ab`");
    check("curl https://a.example/${ID:?missing}", "`${BASE_URL}/${ID}`");
    let notes = import_named("a.sh", "curl https://a.example/${ID%.json}").notes;
    assert!(notes.iter().any(|note| note.text.contains("${ID%.json} is not")), "{notes:?}");
}

#[test]
fn dates_have_their_format() {
    check("curl https://a.example/$(date +%F)", "/${new Date().toISOString().slice(0, 10)}`");
    check("curl https://a.example/$(date +%s)", "/${Math.floor(Date.now() / 1000)}`");
    let notes = import_named("a.sh", "curl https://a.example/$(date -d yesterday +%F)").notes;
    assert!(notes.iter().any(|note| note.text.contains("date -d yesterday")), "{notes:?}");
}

#[test]
fn lists_functions_and_ranges_of_the_shell_are_carried_out() {
    let list = "H=(-H 'A: 1')\nH+=(-H \"B: 2\")\ncurl \"${H[@]}\" https://a.example/";
    check_all("a.sh", list, &["A: '1'", "B: '2'"], &[]);
    let function =
        "api() {\n  curl -X \"$1\" \"https://a.example$2\"\n}\napi GET /a\napi DELETE /b\n";
    check_all("a.sh", function, &["}/a`", "http.del(`${BASE_URL}/b`"], &["ARG"]);
    let all = "function api {\n  curl -H 'K: 1' \"$@\"\n}\napi -d x https://a.example/c\n";
    check_all("a.sh", all, &["http.post(`${BASE_URL}/c`, 'x'"], &[]);
    check("curl https://a.example/f{1..3}", "}/f3`");
    check("until curl -sf https://a.example/health; do sleep 1; done", "}/health`");
    for word in ["readonly", "declare -r", "typeset", "export"] {
        check(&format!("{word} U=https://a.example\ncurl $U/x"), "`${BASE_URL}/x`");
    }
    check("curl -H \"A: Basic $(echo -n u:p | base64)\" https://a.example/", "A: 'Basic dTpw'");
    check("curl -d \"$(cat <<'E'\n{\"a\":1}\nE\n)\" https://a.example/", "'{\"a\":1}'");
}

#[test]
fn placeholders_of_documentations_are_variables() {
    let text = "curl https://a.example/users/<USER_ID> -H 'A: 1' -u <user>:<api-key>";
    check_all("a.sh", text, &["/users/${USER_ID}`", "A: '1'", "API_KEY"], &[]);
    check("curl -d @- https://a.example/ <in.txt", "inTxt");
}

#[test]
fn files_of_windows_set_variables_and_redirect() {
    let text = "@echo off\r\nrem x\r\nset BASE=https://a.example\r\n@curl \"%BASE%/a%%20b\" > nul 2>&1\r\n";
    check_all("a.bat", text, &["`${BASE_URL}/a%20b`"], &["nul"]);
    let text = "$b = '{\"a\":1}'\n$b | curl.exe --json '@-' https://a.example/x\n";
    check_all("a.ps1", text, &["{\"a\":1}"], &[]);
    let text =
        "curl.exe --% -d \"a=1\" https://a.example/\ncurl.exe (\"https://a.example/\" + \"b\")";
    check_all("a.ps1", text, &["'a=1'", "}/b`"], &["+"]);
}

#[test]
fn redirects_are_followed_by_curls_rules() {
    let rules = |options: &str| requests("a.sh", &format!("curl {options} https://a.example/"));
    for (options, expect) in [
        ("-L -X PUT -d a", "{ method: true, body: [], hops: 50 }"),
        ("-L --post302 -d a", "{ body: [302], hops: 50 }"),
        ("-L -T f.txt", "{ body: [301, 302], hops: 50 }"),
        ("--location-trusted -u a:b", "{ body: [], hops: 50, trusts: true }"),
        ("-L --max-redirs 2", "redirects: 2"),
        ("-L --max-redirs 0", "redirects: 0"),
    ] {
        assert!(rules(options).contains(expect), "{options}: {}", rules(options));
    }
    assert!(!rules("-L -d a").contains("redirects"), "{}", rules("-L -d a"));
}

#[test]
fn forms_and_conditions_are_as_curl_has_them() {
    let typed = "curl -H 'Content-Type: multipart/form-data' -F a=1 https://a.example/";
    check_all("a.sh", typed, &["'Content-Type': form.type"], &["'multipart/form-data'"]);
    check("curl -F 'a=one; two' https://a.example/", "content: 'one' }");
    check("curl -F 'a=é=;encoder=quoted-printable' https://a.example/", "'=C3=A9=3D'");
    check("curl -F 'a=hi;encoder=base64' https://a.example/", "'aGk='");
    check("curl -z 20261128 https://a.example/", "'Sat, 28 Nov 2026 00:00:00 GMT'");
    check("curl -G --json '{}' https://a.example/", "Accept: 'application/json'");
    check("curl https:/a.example/x", "`${BASE_URL}/x`");
    let text = "curl -T a.txt https://a.example/1 https://a.example/2";
    check_all("a.sh", text, &["http.put(`${BASE_URL}/1`", "http.get(`${BASE_URL}/2`"], &[]);
    check_all("a.sh", "curl -T '{a,b}' https://a.example/", &["/a`", "/b`"], &[]);
    for refused in ["-F x", "-d a -F b=1", "-d a -T f", "-I -d a", "https://a.example/2 -H"] {
        let import =
            import_named("a.sh", &format!("curl a.example/ok\ncurl https://a.example/ {refused}"));
        assert_eq!(import.exchanges().count(), 1, "{refused}");
        assert!(!import.notes.is_empty(), "{refused}");
    }
    for odd in ["--req POST https://a.example/", "\u{2013}X POST https://a.example/"] {
        assert_eq!(import_named("a.sh", &format!("curl {odd}")).exchanges().count(), 1, "{odd}");
    }
}

#[test]
fn what_curl_would_not_send_is_not_sent_in_silence() {
    for (text, path, note) in [
        ("curl a.example/1 && curl a.example/2 || curl a.example/3", "/3", "behind `||`"),
        ("curl a.example/1; curl 'a.example/a b'", "/a%20b", "a blank in its address"),
        ("curl a.example/1; curl 'a.example/{a'", "/{a", "a { without a }"),
    ] {
        let import = import_named("a.sh", text);
        assert!(
            import.notes.iter().any(|one| one.text.contains(note)),
            "{text}: {:?}",
            import.notes
        );
        let got = requests("a.sh", text);
        assert!(!got.contains(path) && got.contains("/1`"), "{got}");
    }
    let got = requests("a.sh", "curl -z 2025-07-01 https://a.example/");
    assert!(!got.contains("Since"), "{got}");
}

#[test]
fn commands_without_words_and_without_bottom_are_read() {
    let empty = import_named("a.sh", "X=$(A=())\nY=$(curl http://h/a | B=())\ncurl http://h/b");
    assert!(!empty.groups[0].steps.is_empty());
    for (open, close) in [("$(", ")"), ("`$(", ")`"), ("\"$(", ")\"")] {
        let text = format!("curl http://h/{}x{}", open.repeat(3000), close.repeat(3000));
        import_named("a.sh", &text);
    }
}

#[test]
fn loops_and_functions_are_bounded() {
    import_named("a.sh", "curl http://h/x\nf() {\nf\n}\nf\n");
    let nested =
        format!("{}curl http://h/x\n{}", "for i in 1; do\n".repeat(500), "done\n".repeat(500));
    import_named("a.sh", &format!("curl http://h/y\n{nested}"));
}

#[test]
fn texts_that_double_are_cut() {
    let doubling = "L+=(\"${L[@]}\")\n".repeat(60);
    import_named("a.sh", &format!("L=(a b)\ncurl http://h/x\n{doubling}"));
    let variable =
        format!("--variable a=xx --expand-url 'http://h/{{{{a{}}}}}'", ":b64".repeat(300));
    import_named("a.sh", &format!("curl http://h/x\ncurl {variable}"));
    let printed = format!("X=$(printf '{}%s' {})", "f".repeat(100_000), "a ".repeat(100_000));
    import_named("a.sh", &format!("curl http://h/x\n{printed}"));
}

#[test]
fn what_each_request_repeats_is_counted() {
    let header = format!("-H 'a: {}'", "v".repeat(1 << 19));
    let repeated = import_named("a.sh", &format!("curl http://h/[1-1000] {header}"));
    assert!(repeated.groups[0].steps.len() < 200);
    let ranges = import_named("a.sh", &format!("curl http://h/x\n{}", "x{1..1000} ".repeat(1000)));
    assert!(ranges.notes.iter().any(|note| note.text.contains("words together")));
}

#[test]
fn requests_are_counted_before_they_are_made() {
    let text = "for i in {1..1000}; do curl 'http://h/[1-1000]'; done";
    match crate::import(&input("a.sh", text)) {
        Err(crate::ImportError::TooManyRequests { count, .. }) => assert!(count < 21_000),
        other => panic!("{other:?}"),
    }
}
