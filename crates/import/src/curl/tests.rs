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
    let input = Input {
        name,
        text,
        kind: Kind::Curl,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    };
    crate::import(&input).unwrap()
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
