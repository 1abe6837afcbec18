//! What `echo` and `printf` print.

use crate::limits::WORD_MAX;

/// What `echo` prints, with its line end.
pub(super) fn echo(args: &[String]) -> String {
    let is_flag = |arg: &&String| {
        arg.len() > 1 && arg.starts_with('-') && arg[1..].chars().all(|char| "neE".contains(char))
    };
    let flags = args.iter().take_while(is_flag).count();
    let has = |letter: char| args[..flags].iter().any(|flag| flag.contains(letter));
    let mut text = args[flags..].join(" ");
    if has('e') {
        text = unescaped(&text);
    }
    if !has('n') {
        text.push('\n');
    }
    text
}

/// What `printf` prints; the format is used again while there are arguments.
pub(super) fn printf(args: &[String]) -> String {
    let args = args.strip_prefix(["--".to_owned()].as_slice()).unwrap_or(args);
    let Some((format, args)) = args.split_first() else { return String::new() };
    let format = unescaped(format);
    let mut args = args.iter();
    let mut out = String::new();
    loop {
        let before = args.len();
        once(&format, &mut args, &mut out);
        // A long format for each of many arguments is more than a word may have.
        if args.len() == 0 || args.len() == before || out.len() > WORD_MAX {
            return out;
        }
    }
}

fn once<'a>(format: &str, args: &mut impl Iterator<Item = &'a String>, out: &mut String) {
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        match char {
            '%' => match chars.next() {
                Some('s' | 'd' | 'i' | 'u') => out.push_str(args.next().map_or("", String::as_str)),
                Some('b') => out.push_str(&unescaped(args.next().map_or("", String::as_str))),
                other => out.extend(other),
            },
            char => out.push(char),
        }
    }
}

/// Escapes of a backslash as the characters they stand for.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(char @ ('\\' | '"')) => out.push(char),
            Some(char) => out.extend(['\\', char]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn echo_and_printf_print_what_the_shell_prints() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(super::echo(&words("a b")), "a b\n");
        assert_eq!(super::echo(&words("-n a\\tb")), "a\\tb");
        assert_eq!(super::echo(&words("-ne a\\tb")), "a\tb");
        assert_eq!(super::printf(&words("%s:%s\\n a b")), "a:b\n");
        assert_eq!(super::printf(&words("%s, a b")), "a,b,");
        assert_eq!(super::printf(&words("x a")), "x");
    }
}
