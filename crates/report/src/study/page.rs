//! A study as a page: the findings first, then what they rest on, then how it was run.

use metrics::Histogram;
use metrics::server::Side;
use study::plan::{Cell, Figure};

use super::input::StudyState;
use super::overview;
use super::report::{StudyReport, is_compared};
use crate::figure::Figure as Picture;
use crate::number::counted;
use crate::server;
use crate::{escape, page};

/// Headings between the parts of the page.
const STYLE: &str = "h2.part{font-size:20px;margin:30px 0 12px}.findings li{margin:0 0 8px}\
                     .folded{margin:0 0 16px}.folded summary{cursor:pointer;margin:0 0 10px}\
                     .incidents li{overflow-wrap:anywhere;margin:0 0 4px}\
                     .model pre{white-space:pre-wrap;margin:0;font-size:12px;line-height:1.5}";
/// Incidents that are listed; the rest is counted.
const INCIDENTS_MAX: usize = 60;
/// The end of a sentence on a variant that was left out because the command line asked for others: nothing went wrong.
const ASKED_FOR: &str = "was left out: -only names others.";
/// Figures of results that are drawn as bars.
const DRAWN: [&str; 8] = [
    "throughput",
    "duration",
    "transfer",
    "latency.mean",
    "latency.p50",
    "latency.p99",
    "latency.max",
    "errors",
];

impl StudyReport {
    /// As one self-contained page.
    #[must_use]
    pub fn html(&self) -> String {
        let input = &self.input;
        let title = escape::xml(&input.title);
        let mut body = format!("<style>{STYLE}</style><main>\n<header><h1>{title}</h1></header>\n");
        self.lead(&mut body);
        let mut pictures = Vec::new();
        for workload in 0..input.workloads.len() {
            self.workload(&mut body, &mut pictures, workload);
        }
        part(&mut body, "How it was run");
        self.facts(&mut body);
        self.runs(&mut body);
        self.footer(&mut body);
        body.push_str("</main>");
        page::shell(&input.title, &body, &pictures)
    }

    /// What was found, whether it was expected, and what went wrong.
    fn lead(&self, out: &mut String) {
        let input = &self.input;
        let measured = input.runs.iter().filter(|run| run.state == StudyState::Measured);
        let (all, measured) = (input.runs.len(), measured.count());
        let workloads = input.workloads.len();
        out.push_str(&format!(
            "<p class=\"faint\">{}: {measured} of {} measured, {} under {}</p>\n",
            escape::xml(&input.name),
            counted(all as u64, "run"),
            counted(input.variants.len() as u64, "variant"),
            counted(workloads as u64, "workload"),
        ));
        for line in input.made() {
            out.push_str(&format!("<p class=\"faint\">{}</p>\n", escape::xml(&line)));
        }
        self.overview(out);
        if !input.ended.is_empty() {
            let ended = escape::xml(&input.ended);
            out.push_str(&format!(
                "<p class=\"faint\">It went on until it was sure: {ended}.</p>\n"
            ));
        }
        self.ordering_table(out);
        let mut incidents = self.incidents();
        incidents.retain(|sentence| !sentence.ends_with(ASKED_FOR));
        if incidents.is_empty() {
            return;
        }
        out.push_str("<section class=\"card\"><h2>What went wrong</h2><ul class=\"incidents\">\n");
        for sentence in incidents.iter().take(INCIDENTS_MAX) {
            out.push_str(&format!("<li>{}</li>\n", escape::xml(sentence)));
        }
        let more = incidents.len().saturating_sub(INCIDENTS_MAX);
        if more > 0 {
            out.push_str(&format!("<li>and {more} more, in study.json</li>\n"));
        }
        out.push_str("</ul></section>\n");
    }

    /// One workload: bars, curves, comparisons.
    fn workload(&self, out: &mut String, pictures: &mut Vec<Picture>, workload: usize) {
        part(out, &self.input.workloads[workload].name);
        let found = &self.workloads[workload];
        let is_drawn = |figure: &Figure| {
            DRAWN.contains(&figure.name) || !is_compared(figure) && figure.name != "start"
        };
        let differs = |figure: &Figure| overview::differs(found, figure);
        self.bars(workload, |figure| is_drawn(figure) && differs(figure)).cards(out);
        let mut figures = found.contrasts.figures();
        // The curves of all come last there, and first here.
        figures.rotate_right(1);
        if found.contrasts.has_runs() {
            page::charts_from(out, pictures.len(), &figures);
            pictures.extend(figures);
        }
        if let Some(model) = &found.model {
            let text = escape::xml(&model.text());
            out.push_str(&format!(
                "<section class=\"card model\"><h2>A model of it</h2><pre>{text}</pre></section>\n"
            ));
            let figure = [model.figure()];
            page::charts_from(out, pictures.len(), &figure);
            pictures.extend(figure);
        }
        let both = self.both_sides(workload);
        page::charts_from(out, pictures.len(), &both);
        pictures.extend(both);
        let rest = self.bars(workload, |figure| is_drawn(figure) && !differs(figure));
        folded(out, "Figures that do not differ, or not for sure", |out| rest.cards(out));
        found.contrasts.comparisons(out);
        self.other_table(out, workload);
    }

    /// For each variant with logs of its servers: the client's times and the servers', of all runs together.
    fn both_sides(&self, workload: usize) -> Vec<Picture> {
        let of = |variant: usize| {
            let (mut side, mut times) = (Side::new(), Histogram::default());
            for run in self.input.measured(Cell { workload, variant }) {
                side.merge(&run.side);
                run.results.iter().for_each(|results| times.merge(&results.figures.times));
            }
            side.application()?;
            let title = format!("Client and server: {}", self.input.variants[variant].name);
            Some(server::percentiles(&title, Some(&times), &side))
        };
        self.input.planned(workload).into_iter().filter_map(of).collect()
    }

    fn footer(&self, out: &mut String) {
        out.push_str("<footer>\n");
        let mut notes: Vec<String> = Vec::new();
        for found in &self.workloads {
            for caution in found.contrasts.notes() {
                if !notes.contains(&caution) {
                    out.push_str(&format!("<p>{}</p>\n", escape::xml(&caution)));
                    notes.push(caution);
                }
            }
        }
        out.push_str(
            "<p>Bars are medians of runs; whiskers reach from the least to the greatest run, a dot is a run. \
             Each repeat is a block in which every variant comes once under every workload, in an order drawn from the seed.</p>\n",
        );
        out.push_str(page::HINT);
        out.push_str("\n</footer>\n");
    }
}

/// What can be unfolded; left out where there is nothing in it.
fn folded(out: &mut String, summary: &str, content: impl FnOnce(&mut String)) {
    let mut inner = String::new();
    content(&mut inner);
    if inner.contains("class=\"card\"") {
        out.push_str(&format!(
            "<details class=\"folded\"><summary>{summary}</summary>\n{inner}</details>\n"
        ));
    }
}

fn part(out: &mut String, title: &str) {
    out.push_str(&format!("<h2 class=\"part\">{}</h2>\n", escape::xml(title)));
}
