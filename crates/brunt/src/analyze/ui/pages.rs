//! The pages of the store: HTML of what is known of its runs.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

use report::{escape_html, figure_card, outcome_class, served_page};
use stdx::Nanos;
use store::{Listing, Run};

use super::documents::{self, REPORT};
use super::query::{Query, encoded};
use super::trend::{METRICS, Metric, RUNS_MAX, trend};
use crate::analyze::run_facts::{facts, labels, shortened, started};

/// Runs of a page of the list.
pub(super) const PAGE: usize = 100;
/// Characters of the server's result in a badge; more are cut.
const SERVER_MAX: usize = 120;

/// The pages of a site.
pub(super) struct Pages {
    /// What the path of every page begins with: a slash, and the token.
    pub(super) at: String,
    /// Where the documents of runs are.
    pub(super) keys: DocumentKeys,
}

/// Where each document of a run is, without the token: its script, which may be another's, learns from its address no other one.
#[derive(Default)]
pub(super) struct DocumentKeys(RandomState);

impl DocumentKeys {
    /// The path of a document.
    pub(super) fn path(&self, id: &str, name: &str) -> String {
        let key = self.0.hash_one((id, name));
        format!("/document/{key:016x}/{}/{}", encoded(id), encoded(name))
    }
}

impl Pages {
    /// The line of links at the top of every page; they lead from the list of all runs.
    fn navigation(&self, links: &[(String, String)]) -> String {
        let first = ("/".to_owned(), "All runs".to_owned());
        let links = std::iter::once(first).chain(links.iter().cloned());
        let links = links.map(|(to, text)| self.link(&to, &text));
        format!("<p class=\"faint\">{}</p>\n", links.collect::<Vec<_>>().join(" · "))
    }

    fn link(&self, to: &str, text: &str) -> String {
        link(&format!("{}{to}", self.at), text)
    }

    /// A document of another command with the links at its top.
    pub(super) fn with_navigation(&self, document: &str, links: &[(String, String)]) -> String {
        let nav = format!("<div style=\"padding:10px 20px 0\">{}</div>", self.navigation(links));
        document.replacen("<body>", &format!("<body>{nav}"), 1)
    }

    /// The page of an error.
    pub(super) fn problem(&self, title: &str, text: &str) -> String {
        let body = format!(
            "<main>{}<h1>{}</h1><pre style=\"white-space:pre-wrap\">{}</pre></main>",
            self.navigation(&[]),
            escape_html(title),
            escape_html(text)
        );
        served_page(title, &body, &[])
    }

    /// The list of runs that a query selects.
    pub(super) fn list(&self, listing: &Listing, found: &[&Run], query: &Query) -> String {
        let page = query.get("page").parse::<usize>().unwrap_or(1).max(1);
        let shown: Vec<&Run> = found.iter().skip((page - 1) * PAGE).take(PAGE).copied().collect();
        let mut out = String::from("<main class=\"wide\">\n<header><h1>Runs</h1></header>\n");
        let search = escape_html(query.get("q"));
        let count = stdx::counted(found.len() as u64, "run");
        let _ = writeln!(
            out,
            "<form action=\"{}/\"><p><input type=\"search\" name=\"q\" value=\"{search}\" aria-label=\"Search\" \
         placeholder=\"name, command, label, note, branch\" size=\"40\"> <button>Search</button> {count}</p></form>",
            self.at
        );
        for problem in &listing.problems {
            let text = escape_html(&format!("{}: {}", problem.id, problem.error));
            let _ = writeln!(out, "<p class=\"bad\">{text}</p>");
        }
        if shown.is_empty() {
            out.push_str(
                "<p>No run is like that. <code>brunt attack -save=NAME</code> saves one.</p>\n",
            );
        } else {
            self.rows(&mut out, &shown);
            self.turns(&mut out, found.len(), page, query);
        }
        out.push_str("</main>");
        served_page("Runs - brunt", &out, &[])
    }

    /// The table, in a form that compares the runs that are ticked.
    fn rows(&self, out: &mut String, runs: &[&Run]) {
        let at = &self.at;
        let _ = write!(
            out,
            "<form action=\"{at}/compare\"><p><button>Compare</button> the ticked runs as variants by \
         <select name=\"by\" aria-label=\"Variants\"><option value=\"name\">name</option>\
         <option value=\"run\">run</option><option value=\"commit\">commit</option>\
         <option value=\"label\">labels</option></select> \
         <button formaction=\"{at}/curves\">Draw over each other</button></p>\n\
         <section class=\"card\"><div class=\"scroll\" data-name=\"Runs\"><table>\n<thead><tr><th scope=\"col\">Started</th>"
        );
        for head in [
            "Name", "Command", "Server", "Verdict", "Requests", "p50", "p95", "p99", "Failed",
            "Commit", "Labels",
        ] {
            let _ = write!(out, "<th scope=\"col\">{head}</th>");
        }
        out.push_str("</tr></thead><tbody>\n");
        runs.iter().for_each(|run| self.row(out, run));
        out.push_str("</tbody></table></div></section></form>\n");
    }

    fn row(&self, out: &mut String, run: &Run) {
        let manifest = &run.manifest;
        let id = escape_html(&manifest.id);
        let figures = manifest.figures.as_ref().filter(|figures| figures.requests > 0);
        let time = |ns: u64| Nanos(ns).to_three_digits().to_string();
        let figures = figures.map(|one| {
            let times = &one.response_ns;
            let failed = format!("{:.2} %", one.errors * 100.0);
            [one.requests.to_string(), time(times.p50), time(times.p95), time(times.p99), failed]
        });
        let figures = figures.unwrap_or_default();
        let commit = manifest.git.as_ref().map_or(String::new(), |git| {
            let branch =
                if git.branch.is_empty() { String::new() } else { format!(" {}", git.branch) };
            let dirty = if git.dirty { "+" } else { "" };
            format!("{}{dirty}{branch}", git.commit.get(..8).unwrap_or(&git.commit))
        });
        let name = self.link(&format!("/trend?name={}", encoded(&manifest.name)), &manifest.name);
        let notes = [labels(run), manifest.note.clone()].join(" ");
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"{id}\"> \
         <a href=\"{}/run/{id}\">{}</a></th><td>{name}</td><td>{}</td><td class=\"text\">{}</td><td>{}</td>",
            self.at,
            escape_html(&started(&manifest.started)),
            escape_html(&manifest.command),
            server_badge(run),
            verdict_badge(run),
        );
        for cell in figures.iter().chain([&commit]) {
            let _ = write!(out, "<td>{}</td>", escape_html(cell));
        }
        let _ = writeln!(out, "<td class=\"text\">{}</td></tr>", escape_html(notes.trim()));
    }

    /// Links to the pages before and after.
    fn turns(&self, out: &mut String, count: usize, page: usize, query: &Query) {
        let to = |page: usize| format!("/?{}&page={page}", query.without("page").text());
        let newer = (page > 1).then(|| self.link(&to(page - 1), "newer"));
        let older = (count > page * PAGE).then(|| self.link(&to(page + 1), "older"));
        let links: Vec<String> = newer.into_iter().chain(older).collect();
        let _ = writeln!(out, "<p>{}</p>", links.join(" · "));
    }

    /// What is known of a run, with what can be done with it.
    pub(super) fn run(&self, run: &Run) -> String {
        let manifest = &run.manifest;
        let at = format!("/run/{}", manifest.id);
        let title = format!("{} {}", manifest.name, manifest.id);
        let mut out = format!(
            "<main>\n<header><h1>{}</h1>{} {}</header>\n",
            escape_html(&title),
            server_badge(run),
            verdict_badge(run)
        );
        let trend = format!("/trend?name={}", encoded(&manifest.name));
        let mut links = vec![(trend, format!("Trend of {}", manifest.name))];
        let mut documents = Vec::new();
        if documents::has_report(run) {
            links.push((format!("{at}/export"), "Report as a file".to_owned()));
            documents.push((self.keys.path(&manifest.id, REPORT), "Report with charts".to_owned()));
        }
        let others = manifest.documents.iter().filter(|name| *name != REPORT);
        documents.extend(others.map(|name| (self.keys.path(&manifest.id, name), name.clone())));
        out.push_str(&self.navigation(&links));
        if !documents.is_empty() {
            let links: Vec<String> = documents.iter().map(|(to, text)| link(to, text)).collect();
            let _ = writeln!(out, "<p>{}</p>", links.join(" · "));
        }
        out.push_str("<section class=\"card\"><h2>What ran</h2><div class=\"scroll\" data-name=\"What ran\"><table><tbody>\n");
        for (name, text) in facts(run) {
            let text = escape_html(&text);
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{name}</th><td class=\"text\">{text}</td></tr>"
            );
        }
        out.push_str("</tbody></table></div></section>\n");
        sentences(&mut out, "What it showed", &manifest.conclusion);
        sentences(&mut out, "Why the verdict is not VALID", &manifest.reasons);
        self.notes(&mut out, run);
        out.push_str("</main>");
        served_page(&title, &out, &[])
    }

    /// The form that changes labels and the note.
    fn notes(&self, out: &mut String, run: &Run) {
        let manifest = &run.manifest;
        let labels = manifest.labels.iter().map(|(key, value)| format!("{key}={value}\n"));
        let labels = escape_html(&labels.collect::<String>());
        let _ = writeln!(
            out,
            "<section class=\"card\"><h2>Notes</h2><form method=\"post\" action=\"{}/run/{}/notes\">\
         <p><label>Note<br><textarea name=\"note\" rows=\"3\" cols=\"70\">{}</textarea></label></p>\
         <p><label>Labels, KEY=VALUE on each line<br><textarea name=\"labels\" rows=\"3\" cols=\"70\">{labels}</textarea></label></p>\
         <p><button>Save</button></p></form></section>",
            self.at,
            escape_html(&manifest.id),
            escape_html(&manifest.note),
        );
    }

    /// A figure over the runs of a name; `runs` are newest first.
    pub(super) fn trend_of(&self, name: &str, metric: &Metric, runs: &[&Run]) -> String {
        let with_figures = runs.iter().filter(|run| metric.of(run).is_some()).take(RUNS_MAX);
        let mut ordered: Vec<Run> = with_figures.map(|run| (*run).clone()).collect();
        ordered.reverse();
        let (figure, changes) = trend(name, metric, &ordered);
        let links = METRICS.iter().map(|one| {
            (format!("/trend?name={}&metric={}", encoded(name), one.name), one.name.to_owned())
        });
        let mut out = format!("<main>\n<header><h1>{}</h1></header>\n", escape_html(&figure.title));
        out.push_str(&self.navigation(&links.collect::<Vec<_>>()));
        for change in &changes {
            let run = &ordered[change - 1];
            let at = self.link(&format!("/run/{}", run.manifest.id), &run.manifest.id);
            let _ = writeln!(out, "<p>Since run {change} ({at}) there is a new level.</p>");
        }
        if changes.is_empty() {
            out.push_str("<p>No change of level is beyond chance (Pettitt's test, p &lt; 0.05, which takes about six runs on each side).</p>\n");
        }
        out.push_str(&figure_card(&figure, 0));
        let newest: Vec<&Run> = ordered.iter().rev().collect();
        if !newest.is_empty() {
            self.rows(&mut out, &newest);
        }
        out.push_str("</main>");
        let title = figure.title.clone();
        served_page(&title, &out, &[figure])
    }
}

fn link(to: &str, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escape_html(to), escape_html(text))
}

/// The server's result; nothing where the run does not say.
fn server_badge(run: &Run) -> String {
    run.manifest.server.as_ref().map_or_else(String::new, |server| {
        badge(outcome_class(&server.outcome), &shortened(&server.result, SERVER_MAX))
    })
}

/// The verdict on the measurement.
fn verdict_badge(run: &Run) -> String {
    let class = match run.verdict() {
        "VALID" => "good",
        "INVALID" | "failed" | "cut off" => "bad",
        _ => "faint",
    };
    badge(class, run.verdict())
}

fn badge(class: &str, text: &str) -> String {
    format!("<span class=\"badge {class}\">{}</span>", escape_html(text))
}

fn sentences(out: &mut String, title: &str, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let items = all.iter().map(|one| format!("<li>{}</li>", escape_html(one)));
    let items: String = items.collect();
    let _ = writeln!(out, "<section class=\"card\"><h2>{title}</h2><ul>{items}</ul></section>");
}
