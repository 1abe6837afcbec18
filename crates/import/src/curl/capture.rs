//! A request within `$(…)`: it is sent, and of its answer is taken what the shell's filters would take. Filters that depend on how
//! an answer is laid out are refused, but for the member of JSON that they name.

use super::bash::{Answer, Lexer};
use super::command::{Capture, Command};
use super::filter;
use super::shell::assignment;
use crate::{Between, Find, Source};

impl Lexer<'_, '_> {
    /// The value of `$(curl … | jq …)` and of `$(echo "$ANSWER" | jq …)`; none if `commands` are neither. `word` is what stands before.
    pub(super) fn answer(&mut self, commands: &[Command], word: &str) -> Option<Source> {
        let at = commands.iter().rposition(is_curl);
        let (request, filters) = match at {
            Some(at) => {
                self.out.list.extend_from_slice(&commands[..=at]);
                (self.out.list.len() - 1, &commands[at + 1..])
            }
            None => self.earlier_answer(commands)?,
        };
        let wanted = wanted(&self.out.list[request], filters)?;
        let variable = self.capture_name(word, &wanted.0);
        let (find, cut) = wanted;
        // `USER_ID` reads better as `userId` in a script.
        let has_small = variable.contains(|char: char| char.is_ascii_lowercase());
        let name = if has_small { variable.clone() } else { variable.to_ascii_lowercase() };
        let capture = Capture { variable: name.clone(), find, cut };
        self.out.list[request].captures.push(capture);
        let is_whole = self.is_whole(request);
        self.answers.push(Answer { variable, request, is_whole });
        Some(Source::Variable(name))
    }

    /// The request whose answer a shell variable or a file holds, and the filters behind it.
    fn earlier_answer<'c>(&self, commands: &'c [Command]) -> Option<(usize, &'c [Command])> {
        let (first, rest) = commands.split_first()?;
        if rest.is_empty()
            && first.stdin.is_none()
            && first.words.first().is_none_or(|word| word != "jq")
        {
            return None;
        }
        let last = first.words.last()?;
        match first.words.first()?.as_str() {
            "echo" | "printf" => Some((self.answer_in_variable(last)?, rest)),
            "cat" => Some((self.answer_in_file(last)?, rest)),
            _ => {
                let text = first.stdin.as_deref().map(str::trim_end);
                let in_variable = text.and_then(|text| self.answer_in_variable(text));
                Some((in_variable.or_else(|| self.answer_in_file(last))?, commands))
            }
        }
    }

    /// Whether the last thing taken of a request's answer is its whole body.
    fn is_whole(&self, request: usize) -> bool {
        self.out.list[request]
            .captures
            .last()
            .is_some_and(|one| matches!(&one.find, Find::Body(between) if between.left.is_empty()))
    }

    fn answer_in_variable(&self, word: &str) -> Option<usize> {
        let mut chars = word.chars();
        let (Some(char), None) = (chars.next(), chars.next()) else { return None };
        let Source::Env { name, .. } = &self.out.values.get(char)?.source else { return None };
        let mut answers = self.answers.iter().rev();
        answers.find(|one| one.variable == *name && one.is_whole).map(|one| one.request)
    }

    fn answer_in_file(&self, path: &str) -> Option<usize> {
        self.out.list.iter().rposition(|command| {
            let mut pairs = command.words.windows(2);
            is_curl(command)
                && pairs
                    .any(|pair| matches!(pair[0].as_str(), "-o" | "--output") && pair[1] == path)
        })
    }

    /// The shell variable that the value is assigned to, else a name by what is taken.
    fn capture_name(&mut self, word: &str, find: &Find) -> String {
        if let Some((name, "")) = assignment(word) {
            return name.to_owned();
        }
        let wanted = match find {
            Find::Json(path) => path.iter().rev().find_map(|step| match step {
                crate::JsonStep::Key(key) => Some(key.as_str()),
                crate::JsonStep::Index(_) => None,
            }),
            _ => None,
        };
        let wanted = wanted.unwrap_or("answer");
        let is_taken = |name: &str| self.answers.iter().any(|one| one.variable == name);
        // Each name goes on from its last number: a long script would search all of them anew for every request.
        let mut number = self.capture_numbers.get(wanted).copied().unwrap_or(0);
        let name = loop {
            number += 1;
            let name = if number == 1 { wanted.to_owned() } else { format!("{wanted}{number}") };
            if !is_taken(&name) {
                break name;
            }
        };
        self.capture_numbers.insert(wanted.to_owned(), number);
        name
    }
}

/// What is taken of an answer.
type Selector = (Find, Option<Between>);

fn wanted(curl: &Command, filters: &[Command]) -> Option<Selector> {
    let writes = |text: &str| curl.words.iter().any(|word| word.trim_matches('\n').ends_with(text));
    let drops_body = curl.words.iter().any(|word| matches!(word.as_str(), "-o" | "--output"))
        || curl.words.iter().any(|word| word.starts_with('-') && word.ends_with('o'));
    let is_status = writes("%{http_code}") || writes("%{response_code}");
    let last_line =
        filters.first().and_then(|one| one.words.first()).is_some_and(|word| word == "tail");
    let (start, rest) = match () {
        () if is_status && last_line => (Find::Status, &filters[1..]),
        () if is_status && drops_body => (Find::Status, filters),
        () if writes("%{redirect_url}") && drops_body => {
            (Find::Header("Location".to_owned()), filters)
        }
        () if writes("%{url_effective}") && drops_body => (Find::Address, filters),
        () => (Find::Body(Between { left: String::new(), right: String::new() }), filters),
    };
    rest.iter().try_fold((start, None), filter::apply)
}

/// Whether a command is curl, also behind words that only stand before a command.
fn is_curl(command: &Command) -> bool {
    let mut words = command.words.iter().filter(|word| assignment(word).is_none());
    let before = ["command", "time", "env", "sudo"];
    words
        .find(|word| !before.contains(&word.as_str()))
        .is_some_and(|word| matches!(word.rsplit('/').next(), Some("curl" | "curl.exe")))
}
