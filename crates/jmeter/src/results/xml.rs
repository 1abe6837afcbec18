//! Results as XML: JMeter's `testResults`.

use super::options::{SaveOptions, SavedAssertions};
use super::sample::{AssertionResult, SampleKind, SampleResult};

/// What stands before the first sample.
pub const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
/// What stands behind the last.
pub const TAIL: &str = "</testResults>\n";

/// A sample with those below it.
#[must_use]
pub fn sample(sample: &SampleResult, options: &SaveOptions) -> String {
    let mut out = String::new();
    push_sample(sample, options, &mut out);
    out
}

fn push_sample(sample: &SampleResult, options: &SaveOptions, out: &mut String) {
    let tag = if sample.kind == SampleKind::Http { "httpSample" } else { "sample" };
    out.push_str(&format!("<{tag}"));
    push_attributes(sample, options, out);
    out.push('>');
    out.push('\n');
    push_assertions(sample, options, out);
    if options.has("subresults") {
        sample.children.iter().for_each(|child| push_sample(child, options, out));
    }
    push_texts(sample, options, out);
    out.push_str(&format!("</{tag}>\n"));
}

fn push_attributes(sample: &SampleResult, options: &SaveOptions, out: &mut String) {
    let number = |value: u64| value.to_string();
    let all: [(&str, &str, String); 19] = [
        ("t", "time", number(sample.elapsed_ms)),
        ("it", "idle_time", number(sample.idle_ms)),
        ("lt", "latency", number(sample.latency_ms)),
        ("ct", "connect_time", number(sample.connect_ms)),
        ("ts", "timestamp", sample.start_ms.to_string()),
        ("s", "successful", sample.is_success.to_string()),
        ("lb", "label", sample.label.clone()),
        ("rc", "response_code", sample.code.clone()),
        ("rm", "response_message", sample.message.clone()),
        ("tn", "thread_name", sample.thread.clone()),
        ("dt", "data_type", sample.data_type.to_owned()),
        ("de", "encoding", sample.encoding.clone()),
        ("by", "bytes", number(sample.bytes())),
        ("sby", "sent_bytes", number(sample.sent_bytes)),
        ("sc", "sample_count", number(sample.counts.0.max(1))),
        ("ec", "sample_count", number(sample.counts.1)),
        ("ng", "thread_counts", number(sample.group_threads)),
        ("na", "thread_counts", number(sample.all_threads)),
        ("hn", "hostname", "localhost".to_owned()),
    ];
    for (name, property, value) in all.iter().filter(|(_, property, _)| options.has(property)) {
        debug_assert!(!property.is_empty());
        out.push_str(&format!(" {name}=\"{}\"", escape(value)));
    }
    for (name, value) in &sample.variables {
        out.push_str(&format!(" {}=\"{}\"", escape(name), escape(value)));
    }
}

fn push_assertions(sample: &SampleResult, options: &SaveOptions, out: &mut String) {
    let shown: Vec<&AssertionResult> = match options.assertions {
        SavedAssertions::Nothing if !options.has("assertions") => Vec::new(),
        SavedAssertions::First => {
            sample.assertions.iter().filter(|one| one.is_failure || one.is_error).take(1).collect()
        }
        _ => sample.assertions.iter().collect(),
    };
    for one in shown {
        out.push_str("<assertionResult>\n");
        out.push_str(&format!("<name>{}</name>\n", escape(&one.name)));
        out.push_str(&format!(
            "<failure>{}</failure>\n<error>{}</error>\n",
            one.is_failure, one.is_error
        ));
        if one.is_failure || one.is_error {
            out.push_str(&format!("<failureMessage>{}</failureMessage>\n", escape(&one.message)));
        }
        out.push_str("</assertionResult>\n");
    }
}

fn push_texts(sample: &SampleResult, options: &SaveOptions, out: &mut String) {
    let mut push = |tag: &str, text: &str| {
        let text = escape(text);
        out.push_str(&format!("<{tag} class=\"java.lang.String\">{text}</{tag}>\n"));
    };
    if options.has("responseHeaders") {
        push("responseHeader", &sample.response_headers);
    }
    if options.has("requestHeaders") {
        push("requestHeader", &sample.request_headers);
    }
    let on_error = options.has("response_data.on_error") && !sample.is_success;
    if options.has("response_data") || on_error {
        push("responseData", &sample.text);
    }
    let is_http = sample.kind == SampleKind::Http;
    if is_http && options.has("samplerData") {
        push("cookies", &sample.cookies);
        push("method", &sample.method);
        push("queryString", &sample.query);
    }
    if is_http && options.has("url") && !sample.url.is_empty() {
        out.push_str(&format!("<java.net.URL>{}</java.net.URL>\n", escape(&sample.url)));
    }
}

/// A text as XML has it. What XML cannot have becomes a question mark.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#xd;"),
            '\n' | '\t' => out.push(letter),
            other if other < ' ' || matches!(other, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_in_one_another() {
        let child = SampleResult { label: "c".to_owned(), ..SampleResult::default() };
        let parent = SampleResult {
            label: "<p>".to_owned(),
            children: vec![child],
            url: "http://h/?a&b".to_owned(),
            ..SampleResult::default()
        };
        let text = sample(&parent, &SaveOptions::of(&|_| None));
        assert!(text.starts_with("<httpSample t=\"0\""), "{text}");
        assert!(text.contains("lb=\"&lt;p&gt;\"") && text.contains("lb=\"c\""), "{text}");
        assert!(
            text.contains("<java.net.URL>http://h/?a&amp;b</java.net.URL>\n</httpSample>"),
            "{text}"
        );
    }
}
