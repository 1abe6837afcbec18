//! The grammar of `.http` files: blocks between `###` lines, each with its variables, directives, request, body and handlers.

/// A block of a file, as written.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Block {
    /// What stands behind `###`.
    pub title: String,
    /// The name by which others refer to it: `# @name`.
    pub name: String,
    /// `@name = value` lines.
    pub variables: Vec<(String, String)>,
    /// The words of `# @word value` lines, without `name`.
    pub directives: Vec<(String, String)>,
    /// The request line with what follows it in further lines; empty: the block has no request.
    pub request: String,
    /// The line of the request, from 1.
    pub line: usize,
    /// Header fields, as written.
    pub headers: Vec<(String, String)>,
    /// The lines of the body.
    pub body: Vec<String>,
    /// Scripts before the request, with the lines on which they begin.
    pub before: Vec<(usize, String)>,
    /// Scripts on the answer.
    pub after: Vec<(usize, String)>,
    /// Lines that are left out, and what they are.
    pub left_out: Vec<(usize, &'static str)>,
}

/// The blocks of a file.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader { lines: text.trim_start_matches('\u{feff}').lines().collect(), at: 0 };
    let mut blocks = Vec::new();
    let mut title = String::new();
    loop {
        let mut block = Block { title: std::mem::take(&mut title), ..Block::default() };
        reader.block(&mut block);
        blocks.push(block);
        match reader.next() {
            Some(separator) => separator.trim_start_matches('#').trim().clone_into(&mut title),
            None => return blocks,
        }
    }
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line of the block.
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied().filter(|line| !line.starts_with("###"))
    }

    /// Takes a line, a separator as well.
    fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at).copied();
        self.at += 1;
        line
    }

    fn block(&mut self, block: &mut Block) {
        self.head(block);
        if block.request.is_empty() {
            return;
        }
        self.fields(block);
        self.content(block);
        while block.body.last().is_some_and(|line| line.trim().is_empty()) {
            block.body.pop();
        }
    }

    /// What stands before the request, and the request's lines.
    fn head(&mut self, block: &mut Block) {
        while let Some(line) = self.peek() {
            let trimmed = line.trim();
            self.at += 1;
            if trimmed.is_empty() || take_comment(trimmed, block) {
                continue;
            }
            if let Some((name, value)) =
                trimmed.strip_prefix('@').and_then(|rest| rest.split_once('='))
            {
                block.variables.push((name.trim().to_owned(), value.trim().to_owned()));
            } else if let Some(rest) = trimmed.strip_prefix('<') {
                self.handler(rest, Handler::Before, block);
            } else if let Some(what) = foreign_line(trimmed) {
                block.left_out.push((self.at, what));
            } else {
                block.line = self.at;
                trimmed.clone_into(&mut block.request);
                self.rest_of_request(block);
                return;
            }
        }
    }

    /// The lines that go on with the address; a comment among them is none of it.
    fn rest_of_request(&mut self, block: &mut Block) {
        while let Some(more) = self.peek().filter(|more| continues_request(more)) {
            let more = more.trim();
            if !more.starts_with('#') && !more.starts_with("//") {
                block.request.push_str(more);
            }
            self.at += 1;
        }
    }

    /// Header fields, up to an empty line.
    fn fields(&mut self, block: &mut Block) {
        while let Some(line) = self.peek() {
            let trimmed = line.trim();
            if trimmed.starts_with("> ") || trimmed.starts_with(">{") || trimmed.starts_with("<>") {
                return;
            }
            self.at += 1;
            match trimmed.split_once(':') {
                _ if trimmed.is_empty() => return,
                _ if take_comment(trimmed, block) => (),
                Some((name, value)) => {
                    block.headers.push((name.trim().to_owned(), value.trim().to_owned()));
                }
                None => block.left_out.push((self.at, "a line among the header fields")),
            }
        }
    }

    /// The body, and the handlers behind it.
    fn content(&mut self, block: &mut Block) {
        while let Some(line) = self.peek() {
            self.at += 1;
            let is_handler = line.starts_with("> ") || line.starts_with(">{") || line.trim() == ">";
            if line.starts_with("<> ") || line.starts_with(">> ") || line.starts_with(">>!") {
                // A saved answer, or where to save one: no part of the request.
            } else if is_handler {
                self.handler(&line[1..], Handler::After, block);
            } else {
                block.body.push(line.to_owned());
            }
        }
    }

    /// `{% … %}`, also over several lines, or the name of a script's file.
    fn handler(&mut self, rest: &str, handler: Handler, block: &mut Block) {
        let line = self.at;
        let Some(mut rest) = rest.trim().strip_prefix("{%") else {
            block.left_out.push((line, "a script in a file of its own"));
            return;
        };
        let mut source = String::new();
        loop {
            if let Some(end) = rest.find("%}") {
                source.push_str(&rest[..end]);
                break;
            }
            source.push_str(rest);
            source.push('\n');
            let Some(next) = self.peek() else { break };
            rest = next;
            self.at += 1;
        }
        match handler {
            Handler::Before => block.before.push((line, source)),
            Handler::After => block.after.push((line, source)),
        }
    }
}

/// When a script runs.
#[derive(Clone, Copy)]
enum Handler {
    Before,
    After,
}

/// Takes a comment, with what it may direct.
fn take_comment(trimmed: &str, block: &mut Block) -> bool {
    let Some(comment) = trimmed.strip_prefix('#').or_else(|| trimmed.strip_prefix("//")) else {
        return false;
    };
    if let Some(directive) = comment.trim_start().strip_prefix('@') {
        let (word, value) = directive
            .split_once(|char: char| char.is_whitespace() || char == '=')
            .unwrap_or((directive, ""));
        let value = value.trim().trim_start_matches('=').trim();
        match word {
            "name" => value.clone_into(&mut block.name),
            _ => block.directives.push((word.to_owned(), value.to_owned())),
        }
    }
    true
}

/// Lines of newer versions that are no request: those that load or run other files.
fn foreign_line(trimmed: &str) -> Option<&'static str> {
    let first = trimmed.split_whitespace().next().unwrap_or_default();
    match first {
        "import" => Some("an import of another file"),
        "run" => Some("a run of other requests"),
        "{{" | "{{@request" | "{{@response" => Some("a script block"),
        _ => None,
    }
}

/// Whether a line goes on with the address: one that is indented, or begins with `?` or `&`.
fn continues_request(line: &str) -> bool {
    let trimmed = line.trim_start();
    !trimmed.is_empty() && (trimmed.len() < line.len() || trimmed.starts_with(['?', '&']))
}

/// The method and the address of a request line.
pub(super) fn request_parts(line: &str) -> (String, String) {
    let line = line.trim();
    let without_version =
        line.rsplit_once(char::is_whitespace).filter(|(_, last)| last.starts_with("HTTP/"));
    let line = without_version.map_or(line, |(before, _)| before.trim());
    match line.split_once(char::is_whitespace) {
        Some((method, address))
            if method.len() < 20
                && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') =>
        {
            (method.to_owned(), address.trim().to_owned())
        }
        Some((method, address)) if SMALL_METHODS.contains(&method) => {
            (method.to_ascii_uppercase(), address.trim().to_owned())
        }
        _ => ("GET".to_owned(), line.to_owned()),
    }
}

/// Methods that VS Code takes in small letters.
const SMALL_METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_blocks() {
        let text = "@host = a.example\n\n### One\n# @name one\n// @no-redirect\nGET https://{{host}}/x\n  ?a=1\n  # &c=3\n  // no\n  &b=2 HTTP/1.1\nAccept: */*\n# off: 1\n\n\
            ### Two\n< {% client.global.set('a', 1) %}\nPOST https://a.example\nContent-Type: text/plain\n\nline ### 1\n\nline 2\n\n> {%\n  client.test()\n%}\n<> old.json\n";
        let blocks = blocks(text);
        assert_eq!(blocks[0].variables, [("host".to_owned(), "a.example".to_owned())]);
        assert_eq!(
            (blocks[1].name.as_str(), blocks[1].title.as_str(), blocks[1].line),
            ("one", "One", 6)
        );
        assert_eq!(
            request_parts(&blocks[1].request),
            ("GET".to_owned(), "https://{{host}}/x?a=1&b=2".to_owned())
        );
        assert_eq!(blocks[1].headers.len(), 1);
        assert_eq!(blocks[1].directives, [("no-redirect".to_owned(), String::new())]);
        assert_eq!(blocks[2].body, ["line ### 1", "", "line 2"]);
        assert_eq!(blocks[2].after, [(23, "\n  client.test()\n".to_owned())]);
        assert_eq!(blocks[2].before.len(), 1);
    }

    #[test]
    fn request_lines_have_many_forms() {
        let table = [
            ("GET https://a.example/x HTTP/2", "GET", "https://a.example/x"),
            ("https://a.example/x", "GET", "https://a.example/x"),
            ("{{host}}/x HTTP/1.1", "GET", "{{host}}/x"),
            ("DELETE {{host}}/a b", "DELETE", "{{host}}/a b"),
            ("M-SEARCH /x", "M-SEARCH", "/x"),
            ("post https://a.example/x", "POST", "https://a.example/x"),
        ];
        for (line, method, address) in table {
            assert_eq!(request_parts(line), (method.to_owned(), address.to_owned()), "{line}");
        }
    }
}
