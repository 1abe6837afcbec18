//! OpenAPI, Postman and `.http` files to scripts: what comes out, and what hostile ones cannot do.

use import::{FileProblem, Files, Import, Input, Kind, ScriptSettings, write_script};

/// No file may be read.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileProblem> {
        Err(FileProblem::NotAllowed)
    }
}

fn read(kind: Kind, text: &str) -> Option<Import> {
    let input = Input {
        name: "input",
        text,
        kind,
        files: &NoFiles,
        environment: None,
        tags: &[],
        environment_name: None,
    };
    import::import(&input).ok()
}

fn script(kind: Kind, text: &str) -> String {
    write_script(&read(kind, text).expect("is read"), &ScriptSettings::default())
}

#[test]
fn an_operation_is_sent_with_its_security() {
    let text = "openapi: 3.0.0\nservers: [{url: 'https://a.example/v1'}]\npaths: {'/x/{id}': {get: {tags: [t], security: [{k: []}], \
        parameters: [{in: path, name: id, required: true, schema: {type: integer, minimum: 7}}]}}}\n\
        components: {securitySchemes: {k: {type: apiKey, in: header, name: X-Key}}}";
    let made = script(Kind::OpenApi, text);
    for part in
        ["__ENV.SERVER_URL || 'https://a.example/v1'", "/x/7`", "'X-Key': API_KEY", "group('t', t)"]
    {
        assert!(made.contains(part), "{part}\n{made}");
    }
}

#[test]
fn a_script_of_postman_becomes_an_extraction() {
    let text = r#"{"info": {}, "item": [
        {"name": "in", "request": {"method": "POST", "url": "https://a.example/in"},
         "event": [{"listen": "test", "script": {"exec": ["pm.test('x', () => pm.response.to.have.status(201));",
            "pm.environment.set('t', pm.response.json().token);", "for (;;) {}"]}}]},
        {"name": "me", "request": {"url": "https://a.example/me", "auth": {"type": "bearer", "bearer": {"token": "{{t}}"}}}}]}"#;
    let made = script(Kind::Postman, text);
    for part in [
        "try { found.t = res.json('token'); } catch (e) { found.t = undefined; }",
        "r.status === 201",
        "`Bearer ${found.t}`",
        "// Left out of the test script: for (;;) {}",
    ] {
        assert!(made.contains(part), "{part}\n{made}");
    }
}

#[test]
fn an_answer_is_used_by_a_later_request() {
    let text = "# @name in\nPOST https://a.example/in\n\n###\nGET https://a.example/me\nX-T: {{in.response.body.$.a.b}}\n";
    let made = script(Kind::Http, text);
    assert!(made.contains("res.json('a.b')") && made.contains("'X-T': found."), "{made}");
}

#[test]
fn lines_that_are_no_request_are_noted_and_not_sent() {
    let text = "### a\ncurl -X POST https://a.example/x\n\n###\nSome words of prose\n\n###\nget https://a.example/ok\n";
    let made = read(Kind::Http, text).unwrap();
    let notes: Vec<&str> = made.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        notes,
        [
            "a curl command is left out (import it from a file of its own)",
            "Some words of prose is no address: it is left out",
        ]
    );
    let made = script(Kind::Http, text);
    assert!(made.contains("a.example/ok") || made.contains("/ok"), "{made}");
    assert!(!made.contains("curl%20") && !made.contains("prose"), "{made}");
}

#[test]
fn files_of_bodies_are_named_by_variables() {
    let text = "@f = order.json\n\nPOST https://a.example/x\n\n< ./{{f}}\n\n###\nPOST https://a.example/_bulk\nContent-Type: application/x-ndjson\n\n{\"index\":{}}\n{\"a\":1}\n";
    let made = script(Kind::Http, text);
    assert!(made.contains("open('./order.json'"), "{made}");
    assert!(made.contains("{\"a\":1}\n`"), "{made}");
}

/// Nothing of a stranger's text leaves the string, the template or the comment it stands in.
#[test]
fn no_text_becomes_code() {
    let evil = "`${evil()}'\\\"*/\n\u{2028}evil()//";
    let quoted = serde_json::Value::from(evil).to_string();
    let openapi = format!(
        r#"{{"openapi": "3.0.0", "servers": [{{"url": {quoted}}}], "paths": {{"/x": {{"post": {{"operationId": {quoted}, "tags": [{quoted}],
        "parameters": [{{"in": "query", "name": {quoted}, "example": {quoted}}}, {{"in": "header", "name": {quoted}, "required": true, "example": {quoted}}}],
        "requestBody": {{"content": {{"text/plain": {{"example": {quoted}}}}}}}}}}}}}}}"#
    );
    let postman = format!(
        r#"{{"info": {{}}, "variable": [{{"key": {quoted}, "value": {quoted}}}], "item": [{{"name": {quoted}, "item": [{{"name": {quoted}, "request":
        {{"method": {quoted}, "url": {quoted}, "header": [{{"key": {quoted}, "value": {quoted}}}], "body": {{"mode": "raw", "raw": {quoted}}}}},
        "event": [{{"listen": "test", "script": {{"exec": [{quoted}, "pm.environment.set({quoted2}, pm.response.json()[{quoted2}])"]}}}}]}}]}}]}}"#,
        quoted2 = quoted.replace('\\', "\\\\").replace('"', "\\\"")
    );
    let http = format!(
        "### {0}\n# @name {0}\nPOST https://a.example/{0}\nX: {0}\n\n{0}\n",
        evil.replace('\n', " ")
    );
    for (kind, text) in [(Kind::OpenApi, openapi), (Kind::Postman, postman), (Kind::Http, http)] {
        let made = script(kind, &text);
        for line in made.lines() {
            assert!(!line.trim_start().starts_with("evil()"), "{made}");
        }
    }
}

#[test]
fn hostile_inputs_end() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let inputs = [
        (Kind::OpenApi, format!(r#"{{"openapi": "3.0.0", "paths": {}}}"#, deep("{\"a\":", "}"))),
        (Kind::OpenApi, format!("openapi: 3.0.0\npaths: {}", deep("[", "]"))),
        (Kind::Postman, format!(r#"{{"info": {{}}, "item": {}}}"#, deep(r#"[{"item":"#, "}]"))),
        (Kind::Postman, "{".repeat(100_000)),
        (Kind::Http, format!("@a = {{{{b}}}}\n@b = {{{{a}}}}\nGET {{{{a}}}}{}", deep("{{", "}}"))),
        (Kind::Http, format!("GET https://a.example\n> {{% {} %}}", deep("(", ")"))),
    ];
    for (kind, text) in inputs {
        if let Some(made) = read(kind, &text) {
            assert!(write_script(&made, &ScriptSettings::default()).contains("export default"));
        }
    }
}
