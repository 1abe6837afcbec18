//! The report of `-e`: `statistics.json` as JMeter's dashboard has it, and a page with its table.

use std::path::Path;

use anyhow::Context as _;
use jmeter::Statistics;
use jmx::Writing;
use serde_json::{Map, Value, json};

use super::disk;

/// Makes the folder of a report; it has to be empty.
///
/// # Errors
/// It is not, or it cannot be made.
pub(super) fn prepare(folder: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("flag -o: making {folder}"))?;
    let mut inside =
        std::fs::read_dir(folder).with_context(|| format!("flag -o: reading {folder}"))?;
    anyhow::ensure!(inside.next().is_none(), "flag -o: folder {folder} is not empty");
    Ok(())
}

/// Writes a report.
///
/// # Errors
/// A file of it cannot be written.
pub(super) fn write(folder: &str, statistics: &Statistics) -> anyhow::Result<()> {
    let document =
        serde_json::to_string_pretty(&document(statistics)).context("writing statistics")?;
    for (name, text) in [("statistics.json", document), ("index.html", page(statistics))] {
        let path = Path::new(folder).join(name);
        let file = disk::open(&path, Writing::Replace);
        let written =
            file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
        written.with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn document(statistics: &Statistics) -> Value {
    let labels = statistics.rows().map(|(name, fields)| {
        let mut values = Map::new();
        values.insert("transaction".to_owned(), json!(name));
        for (field, value) in fields {
            let is_count = field.ends_with("Count");
            values.insert(
                field.to_owned(),
                if is_count { json!(value as u64) } else { json!(value) },
            );
        }
        (name.to_owned(), Value::Object(values))
    });
    Value::Object(labels.collect())
}

fn page(statistics: &Statistics) -> String {
    let mut rows = String::new();
    let mut head = String::new();
    for (name, fields) in statistics.rows() {
        head = fields.iter().map(|(field, _)| format!("<th>{field}</th>")).collect();
        let cells: String =
            fields.iter().map(|(_, value)| format!("<td>{value:.2}</td>")).collect();
        rows.push_str(&format!("<tr><th>{}</th>{cells}</tr>\n", escape(name)));
    }
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>statistics</title>\n\
         <style>body{{font-family:sans-serif}}td{{text-align:right;padding:0 .6em}}th{{text-align:left}}</style>\n\
         <table>\n<tr><th>label</th>{head}</tr>\n{rows}</table>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
