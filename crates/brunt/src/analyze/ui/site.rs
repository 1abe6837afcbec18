//! `Site`: which page answers which request.

use session::save::read_label;
use session::{Request, Response, Token};
use store::{Filter, Run, Scope, Selector, Store};

use super::documents::{self, REPORT};
use super::pages::{DocumentKeys, Pages};
use super::query::{Query, decoded};
use super::trend::Metric;

/// Bytes of a form, at most.
pub(super) const BODY_MAX: usize = 64 << 10;
/// Runs that are compared, at most.
const COMPARED_MAX: usize = 100;
const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The store as a site.
pub(super) struct Site {
    store: Store,
    token: Token,
    pages: Pages,
}

impl Site {
    pub(super) fn new(store: Store, token: Token) -> Self {
        let pages = Pages { at: format!("/{}", token.text()), keys: DocumentKeys::default() };
        Self { store, token, pages }
    }

    /// Answers a request. The listener has judged Host and Origin.
    pub(super) fn answer(&self, request: &Request) -> Response {
        if request.method == "GET" && self.token.is_in(&request.query, '&', "token") {
            return self.welcome(request);
        }
        let path: Vec<String> = request.path.split('/').skip(1).map(decoded).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match (request.method.as_str(), &path[..]) {
            ("GET", ["document", _, id, name])
                if self.pages.keys.path(id, name) == request.path =>
            {
                self.of_run(id, |run| document(run, name))
            }
            (_, [token, path @ ..]) if self.token.is(token) => self.page(request, path),
            _ => {
                let why = "the token is missing or wrong (open the URL that brunt ui printed)";
                Response::refusal("403 Forbidden", why)
            }
        }
    }

    /// Answers a request that has the token; `path` is what follows it.
    fn page(&self, request: &Request, path: &[&str]) -> Response {
        let query = Query::read(&request.query);
        match (request.method.as_str(), path) {
            ("GET", [""]) => self.list(&query),
            ("GET", ["compare"]) => self.compare(&query),
            ("GET", ["curves"]) => self.curves(&query),
            ("GET", ["trend"]) => self.trend(&query),
            ("GET", ["run", id]) => self.of_run(id, |run| page(self.pages.run(run))),
            ("GET", ["run", id, "export"]) => self.of_run(id, |run| self.export(run)),
            ("POST", ["run", id, "notes"]) => self.of_run(id, |run| self.note(run, &request.body)),
            ("GET" | "HEAD", _) => self.missing("there is no such page"),
            _ => Response::refusal("405 Method Not Allowed", "pages are read with GET"),
        }
    }

    /// Leads from the URL that was printed to the same page, whose path begins with the token: no cookie has it, which the browser
    /// would send to every other port of this host.
    fn welcome(&self, request: &Request) -> Response {
        let rest = Query::read(&request.query).without("token").text();
        let mark = if rest.is_empty() { "" } else { "?" };
        // The path was one word of the head: it has no line end.
        let fields = format!("Location: {}{}{mark}{rest}\r\n", self.pages.at, request.path);
        Response { status: "303 See Other", fields, ..Response::new(TEXT, String::new()) }
    }

    fn list(&self, query: &Query) -> Response {
        let some = |name: &str| Some(query.get(name).to_owned()).filter(|text| !text.is_empty());
        let filter = Filter { text: some("q"), name: some("name"), ..Filter::default() };
        match self.store.list() {
            Ok(listing) => {
                let found: Vec<&Run> =
                    listing.runs.iter().filter(|run| filter.takes(run)).collect();
                page(self.pages.list(&listing, &found, query))
            }
            Err(error) => self.failed(&error.to_string()),
        }
    }

    fn trend(&self, query: &Query) -> Response {
        let (name, metric) = (query.get("name"), Metric::named(query.get("metric")));
        match self.store.list() {
            Ok(listing) => {
                let runs = listing.runs.iter().filter(|run| run.manifest.name == name);
                page(self.pages.trend_of(name, metric, &runs.collect::<Vec<_>>()))
            }
            Err(error) => self.failed(&error.to_string()),
        }
    }

    /// A page of the run with this id.
    fn of_run(&self, id: &str, answer: impl FnOnce(&Run) -> Response) -> Response {
        match Selector::parse(id).find(&self.store, &Scope::default()) {
            Ok(runs) if runs.len() == 1 && runs[0].manifest.id == id => answer(&runs[0]),
            _ => self.missing(&format!("the store has no run {id}")),
        }
    }

    /// The runs that a query names, each with the label of its variant.
    fn labelled(&self, query: &Query) -> Result<Vec<(String, Run)>, String> {
        let mut all = Vec::new();
        for id in query.all("run").take(COMPARED_MAX) {
            let run = self.store.read(id).map_err(|error| error.to_string())?;
            all.push((variant(&run, query.get("by")), run));
        }
        // The oldest is what others are compared with.
        all.sort_by(|(_, a), (_, b)| a.manifest.started.cmp(&b.manifest.started));
        let first = all.first().map(|(label, _)| label.clone());
        if all.len() > 1 && all.iter().all(|(label, _)| Some(label) == first.as_ref()) {
            // All of one name: each is a variant.
            all.iter_mut().for_each(|(label, run)| *label = run.manifest.id.clone());
        }
        Ok(all)
    }

    fn compare(&self, query: &Query) -> Response {
        let found = self.labelled(query).and_then(|all| {
            if all.len() < 2 {
                return Err(
                    "Tick two runs or more; three of each variant are the least that is judged."
                        .to_owned(),
                );
            }
            let operand = |(label, run): &(String, Run)| format!("{label}={}", run.manifest.id);
            let operands: Vec<String> = all.iter().map(operand).collect();
            documents::compare(self.store.folder(), &operands)
        });
        let curves = (format!("/curves?{}", query.text()), "Draw over each other".to_owned());
        self.made(found, &[curves])
    }

    fn curves(&self, query: &Query) -> Response {
        let found = self.labelled(query).and_then(|all| {
            if all.is_empty() { Err("Tick a run.".to_owned()) } else { documents::curves(&all) }
        });
        let compare = (format!("/compare?{}", query.text()), "Compare".to_owned());
        self.made(found, &[compare])
    }

    /// Changes the note and the labels of a run.
    fn note(&self, run: &Run, body: &[u8]) -> Response {
        let form = Query::read(&String::from_utf8_lossy(body));
        let lines = form.get("labels").lines().map(str::trim).filter(|line| !line.is_empty());
        let labels: Result<_, _> = lines.map(read_label).collect();
        let labels = match labels {
            Ok(labels) => labels,
            Err(error) => return self.bad(&error.native),
        };
        let note = form.get("note").trim().replace("\r\n", "\n");
        let id = &run.manifest.id;
        let changed = self.store.change(id, |manifest| {
            (manifest.note, manifest.labels) = (note, labels);
        });
        match changed {
            Ok(_) => {
                let fields = format!("Location: {}/run/{id}\r\n", self.pages.at);
                Response { status: "303 See Other", fields, ..Response::new(TEXT, String::new()) }
            }
            Err(error) => self.failed(&error.to_string()),
        }
    }

    fn missing(&self, why: &str) -> Response {
        Response { status: "404 Not Found", ..page(self.pages.problem("Not found", why)) }
    }

    fn bad(&self, why: &str) -> Response {
        let shown = self.pages.problem("That cannot be shown", why);
        Response { status: "400 Bad Request", ..page(shown) }
    }

    fn failed(&self, why: &str) -> Response {
        let shown = self.pages.problem("That failed", why);
        Response { status: "500 Internal Server Error", ..page(shown) }
    }

    /// A document that was made of runs here.
    fn made(&self, found: documents::Document, links: &[(String, String)]) -> Response {
        match found {
            Ok(text) => stored(HTML, self.pages.with_navigation(&text, links)),
            Err(why) => self.bad(&why),
        }
    }

    /// The report as a file of its own: a page that loads nothing.
    fn export(&self, run: &Run) -> Response {
        match documents::report(run) {
            Ok(text) => {
                let id = &run.manifest.id;
                let sheet = stored(HTML, text);
                let name = format!("Content-Disposition: attachment; filename=\"{id}.html\"\r\n");
                Response { fields: sheet.fields.clone() + &name, ..sheet }
            }
            Err(why) => self.bad(&why),
        }
    }
}

/// The label of a run's variant. An equals sign would end it.
fn variant(run: &Run, by: &str) -> String {
    let manifest = &run.manifest;
    let label = match by {
        "run" => manifest.id.clone(),
        "commit" => manifest.git.as_ref().map_or("no commit", |git| &git.commit).to_owned(),
        "label" => {
            let labels = manifest.labels.iter().map(|(key, value)| format!("{key} {value}"));
            labels.collect::<Vec<_>>().join(", ")
        }
        _ => manifest.name.clone(),
    };
    // A dash at its begin would make it a flag.
    let label = label.replace(['=', '/'], "-").trim_start_matches('-').to_owned();
    if label.is_empty() { "no label".to_owned() } else { label }
}

fn page(text: String) -> Response {
    Response::new(HTML, text)
}

/// What a run stored, or what was made of it: a run may come from elsewhere, so its page is of no origin, and reaches nothing here.
fn stored(kind: &'static str, text: String) -> Response {
    let fields = "Content-Security-Policy: sandbox allow-scripts allow-downloads\r\nX-Content-Type-Options: nosniff\r\n";
    Response { fields: fields.to_owned(), ..Response::new(kind, text) }
}

/// A document that the run stored, only one that its manifest names, or the report of its results. Nothing in it has the
/// token: it may be of somebody else's making.
fn document(run: &Run, name: &str) -> Response {
    if name == REPORT {
        return match documents::report(run) {
            Ok(text) => stored(HTML, text),
            Err(why) => Response::refusal("400 Bad Request", &why),
        };
    }
    match run.document(name) {
        Ok(None) => Response::refusal("404 Not Found", "the run has no document of this name"),
        Ok(Some(bytes)) => {
            let kind = if name.ends_with(".html") { HTML } else { TEXT };
            stored(kind, String::from_utf8_lossy(&bytes).into_owned())
        }
        Err(error) => Response::refusal("500 Internal Server Error", &error.to_string()),
    }
}
