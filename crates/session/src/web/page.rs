//! `LivePage`: the server of the live page, for all runs of a command.

use std::io;

use cli::Interrupts;
use serde_json::{Value, json};
use workload::Plan;

use super::board::{Board, Order, Shared, event};
use super::live_view::LiveView;
use super::order::load_change;
use super::table_view::TableView;
use super::viewers::Viewers;
use crate::clock::unix_ns;
use crate::labels::target_labels;
use crate::listener::{BarePort, Listener, Reply, Request, Response};
use crate::provenance::provenance;
use crate::token::Token;

/// The address where the flag names none: this machine alone, at a port that is free.
pub(super) const ADDRESS: &str = "127.0.0.1:0";
/// Bytes of a request's body, at most: the text of a mark, or a change of the load.
const BODY_MAX: usize = 1000;
/// Orders that wait for the run to carry them out, at most.
const ORDERS_MAX: usize = 100;
/// What answers are.
const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Whether an argument after `-web` is its address: `HOST:PORT` or `:PORT`, and neither a path nor a URL.
#[must_use]
pub(super) fn is_address(text: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = |host: &str| !host.contains(['/', '@']) && !host.starts_with('-');
    text.rsplit_once(':').is_some_and(|(host, port)| is_port(port) && is_host(host))
}

/// The live page of a command. Its server ends with the process, and the streams of browsers when this is dropped.
pub struct LivePage {
    shared: Shared,
    url: String,
    command: String,
}

impl LivePage {
    /// Listens at `HOST:PORT`; `:PORT` is for this machine alone. `command` is the command line, as the page shows it. Who stops
    /// the run there interrupts it, as Ctrl-C does.
    ///
    /// # Errors
    /// The address is taken, or none.
    pub fn start(address: &str, command: &str, interrupts: &Interrupts) -> io::Result<Self> {
        let listener = Listener::bind(address, BarePort::Loopback)?;
        let token = Token::new()?;
        let url = format!("http://{}/?token={}", listener.address()?, token.text());
        let shared = Shared::new(Viewers::start()?);
        serve(listener, token, command.to_owned(), (shared.clone(), interrupts.clone()))?;
        Ok(Self { shared, url, command: command.to_owned() })
    }

    /// The URL of the page, with its token.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Shows a run from now on, in place of the one before.
    #[must_use]
    pub fn view(&self, plan: &Plan) -> LiveView {
        self.show(LiveView::new(self.shared.clone(), unix_ns(), plan), plan)
    }

    /// The same without marks: one run of several, whose results are not stored.
    #[must_use]
    pub fn view_of_step(&self, plan: &Plan) -> LiveView {
        let view = LiveView::new(self.shared.clone(), unix_ns(), plan);
        self.show(view.without_marks(), plan)
    }

    /// The same with controls for the run's load.
    #[must_use]
    pub fn controlled_view(&self, plan: &Plan) -> LiveView {
        self.show(LiveView::new(self.shared.clone(), unix_ns(), plan).controlled(plan), plan)
    }

    fn show(&self, view: LiveView, plan: &Plan) -> LiveView {
        let title = if plan.name.is_empty() { &self.command } else { &plan.name };
        let command = (title != &self.command).then(|| self.command.clone());
        let attacked = report::planned(&target_labels(plan));
        let about = [command, attacked.map(|words| format!("Attacked: {words}")), Some(made())];
        let hello = json!({
            "title": title,
            "command": about.into_iter().flatten().collect::<Vec<_>>().join(" · "),
            "began": view.epoch / 1_000_000,
            "duration": view.duration.map(|duration| duration.as_secs_f64()),
            "control": view.control(),
            "marks": view.takes_marks,
            "kind": "run",
        });
        self.begin(hello, view.state());
        view
    }

    /// Shows tables from now on, of something that is no single run.
    #[must_use]
    pub fn tables(&self, title: &str) -> TableView {
        let began = unix_ns();
        let hello = json!({
            "title": title,
            "command": format!("{} · {}", self.command, made()),
            "began": began / 1_000_000,
            "duration": null,
            "control": null,
            "marks": false,
            "kind": "tables",
        });
        let view = TableView::new(self.shared.clone(), began);
        self.begin(hello, Value::Null);
        view
    }

    /// Begins the page anew.
    fn begin(&self, hello: Value, state: Value) {
        let mut board = self.shared.board();
        let events = event("hello", &hello) + &event("state", &state);
        // What was ordered for the run before does not concern this one.
        let (ended, log) = (std::mem::take(&mut board.ended), std::mem::take(&mut board.log));
        *board = Board { hello, state, ended, log, ..Board::default() };
        self.shared.viewers.send(events);
    }
}

/// The machine, the versions and the commit of this process' run.
fn made() -> String {
    report::made_by(&provenance())
}

impl Drop for LivePage {
    fn drop(&mut self) {
        self.shared.viewers.close(event("end", &Value::Null));
    }
}

/// Answers browsers.
fn serve(
    listener: Listener,
    token: Token,
    title: String,
    (shared, interrupts): (Shared, Interrupts),
) -> io::Result<()> {
    let answer = move |request: &Request| {
        if !token.is_in(&request.query, '&', "token") {
            let why = "the token is missing or wrong (open the URL that brunt printed)";
            return Reply::Whole(Response::refusal("403 Forbidden", why));
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => {
                let body = report::live_page(&title);
                Reply::Whole(Response::new(HTML, body))
            }
            ("GET", "/events") => stream(&shared),
            ("POST", "/stop") => {
                interrupts.interrupt();
                done()
            }
            ("POST", "/mark") => {
                let text = String::from_utf8_lossy(&request.body).trim().to_owned();
                match text.is_empty() {
                    true => bad("a mark has a text"),
                    false => queue(&shared, Order::Mark(text)),
                }
            }
            ("POST", "/load") => match load_change(&request.body) {
                Ok(change) => queue(&shared, Order::Change(change)),
                Err(why) => bad(&why),
            },
            (_, "/" | "/events" | "/stop" | "/mark" | "/load") => {
                let why = "pages are read with GET, and the run is changed with POST";
                Reply::Whole(Response::refusal("405 Method Not Allowed", why))
            }
            _ => Reply::Whole(Response::refusal("404 Not Found", "there is no such page")),
        }
    };
    listener.serve_streams("web", BODY_MAX, answer).map(drop)
}

/// Hands a browser over to the viewers, with all that happened so far.
fn stream(shared: &Shared) -> Reply {
    let shared = shared.clone();
    Reply::Stream(Box::new(move |socket| {
        // The board is held until the browser is one of the viewers: it gets each period once.
        let board = shared.board();
        let first = event("hello", &board.hello)
            + &event("history", &board.history.json())
            + &event("state", &board.state)
            + &event("ended", &Value::Array(board.ended.clone()))
            + &event("logged", &board.log.json());
        shared.viewers.add(socket, &first);
    }))
}

/// Has the run carry out an order.
fn queue(shared: &Shared, order: Order) -> Reply {
    let board = &mut *shared.board();
    let is_taken = match &order {
        Order::Mark(_) => board.hello["marks"] == true,
        Order::Change(_) => !board.hello["control"].is_null(),
    };
    if !is_taken {
        return Reply::Whole(Response::refusal("409 Conflict", "this run takes no such order"));
    }
    let orders = &mut board.orders;
    if orders.len() >= ORDERS_MAX {
        let why = "too many orders wait for the run";
        return Reply::Whole(Response::refusal("503 Service Unavailable", why));
    }
    orders.push(order);
    done()
}

fn bad(why: &str) -> Reply {
    Reply::Whole(Response::refusal("400 Bad Request", why))
}

fn done() -> Reply {
    Reply::Whole(Response::new(TEXT, "done\n".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_neither_a_url_nor_a_file() {
        for text in ["127.0.0.1:9000", ":9000", "localhost:0", "[::1]:80", "load-1:8080"] {
            assert!(is_address(text), "{text}");
        }
        for text in
            ["http://localhost:9000", "localhost:9000/", "x.js", "-c:1", "9000", "a:", "c:\\x"]
        {
            assert!(!is_address(text), "{text}");
        }
    }
}
