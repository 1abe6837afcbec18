//! `Scrape`: a Prometheus endpoint, requested by a thread of its own, so that a slow one delays nothing else.

mod puma;
mod text;

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Instant;

use self::text::{SERIES_MAX, Series};
use crate::fetch::Client;
use crate::rows::Rows;
use crate::{FetchError, WatchError};

/// A Prometheus endpoint.
#[derive(Debug)]
pub(crate) struct Scrape {
    source: String,
    /// Requests to the thread: their Unix time.
    requests: SyncSender<i64>,
    answers: Receiver<Answer>,
    /// An answer is on its way.
    is_waiting: bool,
    /// Its thread has ended, which has been reported.
    is_broken: bool,
    /// The last response was unusable, which has been reported.
    is_gone: bool,
    /// Malformed lines or too many series have been reported.
    skipped_reported: bool,
}

/// The result of one request.
#[derive(Debug)]
struct Answer {
    requested_at: i64,
    found: Result<Series, FetchError>,
}

impl Scrape {
    /// Starts the thread.
    ///
    /// # Errors
    /// The address is not supported, or the system refuses a thread.
    pub(crate) fn start(url: &str) -> Result<Self, WatchError> {
        let endpoint =
            |reason| WatchError::Endpoint { url: stdx::shown_url(url).into_owned(), reason };
        let mut client = Client::new(url).map_err(endpoint)?;
        let (requests, received) = sync_channel::<i64>(1);
        let (give, answers) = sync_channel(1);
        let work = move || {
            for requested_at in received {
                let found = fetch(&mut client);
                if give.send(Answer { requested_at, found }).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("scrape".into()).spawn(work).map_err(WatchError::Thread)?;
        let source = format!("scrape {url}");
        Ok(Self {
            source,
            requests,
            answers,
            is_waiting: false,
            is_broken: false,
            is_gone: false,
            skipped_reported: false,
        })
    }

    /// Asks, unless the last answer is still on its way.
    pub(crate) fn request(&mut self, at: i64) {
        if !self.is_waiting {
            self.is_waiting = self.requests.try_send(at).is_ok();
        }
    }

    /// Adds the result that has come since the last call.
    pub(crate) fn collect(&mut self, now: i64, rows: &mut Rows) {
        match self.answers.try_recv() {
            Ok(answer) => self.handle_answer(answer, now, rows),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.report_broken(now, rows),
        }
    }

    /// Waits for the answer that is on its way.
    pub(crate) fn finish(&mut self, until: Instant, now: i64, rows: &mut Rows) {
        if !self.is_waiting {
            return;
        }
        match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(answer) => self.handle_answer(answer, now, rows),
            Err(RecvTimeoutError::Timeout) => {
                rows.incident(now, &self.source, "the last answer did not come in time");
            }
            Err(RecvTimeoutError::Disconnected) => self.report_broken(now, rows),
        }
    }

    /// Reports once that the thread has ended.
    fn report_broken(&mut self, now: i64, rows: &mut Rows) {
        if !std::mem::replace(&mut self.is_broken, true) {
            rows.incident(now, &self.source, "is asked no more: its thread broke");
        }
    }

    fn handle_answer(&mut self, answer: Answer, now: i64, rows: &mut Rows) {
        self.is_waiting = false;
        match answer.found {
            Ok(series) => {
                if std::mem::replace(&mut self.is_gone, false) {
                    rows.incident(now, &self.source, "answers again");
                }
                self.report_skipped(&series, now, rows);
                rows.reading(answer.requested_at, &self.source, series.values);
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_gone, true) {
                    rows.incident(now, &self.source, format!("gives no answer: {error}"));
                }
            }
        }
    }

    /// Says once what was left out.
    fn report_skipped(&mut self, series: &Series, now: i64, rows: &mut Rows) {
        let (wrong, left_out) = (series.lines_wrong, series.left_out);
        if wrong + left_out == 0 || std::mem::replace(&mut self.skipped_reported, true) {
            return;
        }
        let (wrong, are) = (stdx::counted(wrong, "line"), stdx::are(wrong));
        let beyond = stdx::are(left_out);
        let what = format!("{wrong} {are} no series, and {left_out} {beyond} beyond {SERIES_MAX}");
        rows.incident(now, &self.source, what);
    }
}

fn fetch(client: &mut Client) -> Result<Series, FetchError> {
    const OK: u16 = 200;
    let answer = client.get()?;
    match answer.status {
        OK => Ok(series(&String::from_utf8_lossy(&answer.body))),
        status => Err(FetchError::Status(status)),
    }
}

/// Prometheus' text, or what Puma's control server says.
fn series(text: &str) -> Series {
    puma::parse(text).unwrap_or_else(|| text::parse(text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fetch::tests::{ok, serve};
    use crate::rows::tests::{incidents, readings};

    /// Asks, and waits for what comes of it.
    fn round(scrape: &mut Scrape, at: i64, rows: &mut Rows) {
        scrape.request(at);
        let answer = scrape.answers.recv_timeout(Duration::from_secs(20)).unwrap();
        scrape.handle_answer(answer, at + 1, rows);
    }

    #[test]
    fn an_endpoint_that_goes_away_is_reported_once_and_so_is_its_return() {
        let unwell = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".to_owned();
        let (url, server) =
            serve(vec![vec![ok("a 1\n"), unwell.clone(), unwell, ok("a 2\n? ?\n"), ok("?\n")]]);
        let mut scrape = Scrape::start(&url).unwrap();
        let mut rows = Rows::new("h".into());
        for at in 0..5 {
            round(&mut scrape, 10 * at, &mut rows);
        }
        let source = format!("scrape {url}");
        let found = readings(&rows.found, &source);
        let values: Vec<_> = found.iter().map(|r| (r.at, r.value("a"))).collect();
        assert_eq!(values, [(0, Some(1.0)), (30, Some(2.0))]);
        let expected = [
            format!("{source}: gives no answer: status 500"),
            format!("{source}: answers again"),
            format!("{source}: 1 line is no series, and 0 are beyond 4096"),
        ];
        assert_eq!(incidents(&rows.found), expected);
        server.join().unwrap();
    }

    #[test]
    fn one_that_never_answers_and_one_whose_thread_broke() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut scrape = Scrape::start(&url).unwrap();
        let mut rows = Rows::new("h".into());
        scrape.request(0);
        scrape.finish(Instant::now(), 1, &mut rows);
        let (_, gone) = sync_channel(1);
        scrape.answers = gone;
        for at in 2..4 {
            scrape.collect(at, &mut rows);
        }
        let words = ["the last answer did not come in time", "is asked no more: its thread broke"];
        assert_eq!(incidents(&rows.found), words.map(|what| format!("scrape {url}: {what}")));
    }

    #[test]
    fn nobody_listens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let mut scrape = Scrape::start(&url).unwrap();
        let mut rows = Rows::new("h".into());
        for at in 0..3 {
            round(&mut scrape, at, &mut rows);
        }
        let reported = incidents(&rows.found);
        assert!(reported.len() == 1 && reported[0].contains("gives no answer: "), "{reported:?}");
    }
}
