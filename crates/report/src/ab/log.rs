//! What ab logs of a response with `-v`.

use metrics::{Batch, Sample};

use crate::escape;

/// ab's log of a response: its head and the captured part of its body, then its status. `verbosity` is `-v`'s.
#[must_use]
pub fn log(sample: &Sample, batch: &Batch, verbosity: i64) -> String {
    let head = String::from_utf8_lossy(batch.text(sample.headers));
    let body = String::from_utf8_lossy(batch.text(sample.body));
    let mut out = String::from("LOG: header received:\n");
    for line in head.split_inclusive('\n').chain(["\r\n"]).chain(body.split_inclusive('\n')) {
        push_line(line, &mut out);
    }
    out.push('\n');
    let status = sample.outcome.code();
    if !(200..300).contains(&status) {
        out.push_str(&format!("WARNING: Response code not 2xx ({status})\n"));
    } else if verbosity >= 3 {
        out.push_str(&format!("LOG: Response code = {status}\n"));
    }
    out
}

/// A server's text as a terminal may see it.
#[must_use]
pub fn printable(text: &[u8]) -> String {
    escape::terminal(&String::from_utf8_lossy(text))
}

/// A server's line as a terminal may see it, its end as it was.
fn push_line(line: &str, out: &mut String) {
    let bare = line.trim_end_matches(['\r', '\n']);
    out.push_str(&escape::terminal(bare));
    out.push_str(&line[bare.len()..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_logged_and_can_steer_no_terminal() {
        let mut batch = Batch::default();
        let headers = batch.add_text(b"HTTP/1.1 404 No\r\nX: \x1b[2J\r\n");
        let body = batch.add_text(b"a\nb");
        let sample =
            Sample { outcome: metrics::Outcome::Http(404), headers, body, ..Sample::default() };
        let text = log(&sample, &batch, 2);
        assert!(text.starts_with("LOG: header received:\nHTTP/1.1 404 No\r\nX: "), "{text:?}");
        assert!(text.ends_with("\r\n\r\na\nb\nWARNING: Response code not 2xx (404)\n"), "{text:?}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let fine = Sample { outcome: metrics::Outcome::Http(200), ..sample };
        assert!(log(&fine, &batch, 3).ends_with("LOG: Response code = 200\n"));
        assert!(!log(&fine, &batch, 2).contains("Response code"));
    }
}
