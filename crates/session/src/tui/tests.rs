//! What the view shows, drawn into memory.

use metrics::{Batch, Sample, Snapshot, TargetTable};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use stdx::Nanos;

use super::state::{Sort, State};
use super::view;

fn drawn(state: &State, (columns, rows): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| view::draw(frame, state)).unwrap();
    terminal.backend().to_string()
}

fn state() -> State {
    let mut state =
        State::new("home".to_owned(), Some(Nanos::from_secs(10)), TargetTable::default());
    let mut batch = Batch::default();
    let mut snapshot = Snapshot::new();
    for at in 0..100 {
        let name = batch.add_text(if at % 2 == 0 { b"list" } else { b"item" });
        let error = batch.add_text(if at == 7 { b"EOF \x1b[31m" } else { b"" });
        let status = if at == 7 { 0 } else { 200 };
        let done = Nanos::from_millis(at + 1);
        let sample = Sample {
            done,
            outcome: metrics::Outcome::http(status),
            name,
            error,
            ..Sample::default()
        };
        snapshot.record(&sample);
        batch.samples.push(sample);
    }
    (snapshot.from, snapshot.to) = (Nanos::ZERO, Nanos::from_secs(1));
    state.add_rows(&batch);
    state.add_second(&snapshot);
    state.elapsed = Nanos::from_secs(1);
    state
}

#[test]
fn the_view_has_rates_times_targets_and_errors() {
    let text = drawn(&state(), (100, 40));
    for words in
        ["home", "1s of 10s (10 %)", "answered 100/s", "p99", "list", "item", "errors", "EOF"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "texts of servers move no cursor");
}

#[test]
fn small_terminals_are_drawn_on_too() {
    for size in [(1, 1), (10, 3), (20, 8), (40, 12), (300, 100)] {
        drawn(&state(), size);
    }
}

#[test]
fn keys_sort_and_stop() {
    let mut state = state();
    assert!(!state.press(b's') && state.sort == Sort::P99);
    assert!(!state.press(b'?') && drawn(&state, (100, 30)).contains("sort targets"));
    assert!(!state.press(b'p') && drawn(&state, (100, 30)).contains("times, last second"));
    assert!(state.press(b'q'));
}

#[test]
fn long_names_have_their_ends() {
    assert_eq!(view::fitted("GET http://127.0.0.1:3000/shop/items", 20), "GET …3000/shop/items");
    assert_eq!(view::fitted("short", 20), "short");
}
