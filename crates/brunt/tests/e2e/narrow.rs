//! Progress on a narrow terminal: no line wraps, and nothing of what was drawn before stays.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use demo::Config;
use nix::pty::{Winsize, openpty};

use crate::{Scratch, brunt, server};

const COLUMNS: u16 = 40;

/// Everything a command writes to a terminal of 40 columns, which is its standard output and error.
fn on_a_terminal(args: &str) -> String {
    let size = Winsize { ws_row: 24, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    let slave = File::from(pty.slave);
    let mut command = brunt(args);
    command.env_remove("COLUMNS").stdin(Stdio::null());
    command.stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    // It holds the terminal's other end too.
    drop(command);
    let mut text = Vec::new();
    // Once the other end is closed, reading fails.
    File::from(pty.master).read_to_end(&mut text).ok();
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&text));
    String::from_utf8(text).unwrap()
}

/// What a terminal without an end upwards shows after this; a line that is too long wraps.
fn shown(text: &str) -> (Vec<String>, bool) {
    let (mut rows, mut row, mut column, mut wrapped) = (vec![Vec::new()], 0usize, 0usize, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\x1b' => {
                let mut sequence: String = chars.by_ref().take_while(|c| *c != '[').collect();
                for c in chars.by_ref() {
                    sequence.push(c);
                    if c.is_ascii_alphabetic() {
                        break;
                    }
                }
                let count = sequence[..sequence.len() - 1].parse().unwrap_or(1);
                match sequence.pop() {
                    Some('A') => row = row.saturating_sub(count),
                    Some('J') => rows.truncate(row),
                    _ => {}
                }
            }
            c => {
                if column == usize::from(COLUMNS) {
                    (row, column, wrapped) = (row + 1, 0, true);
                }
                while rows.len() <= row {
                    rows.push(Vec::new());
                }
                while rows[row].len() <= column {
                    rows[row].push(' ');
                }
                rows[row][column] = c;
                column += 1;
            }
        }
    }
    (rows.into_iter().map(|row| row.into_iter().collect()).collect(), wrapped)
}

#[test]
fn a_run_of_a_script_stays_within_forty_columns() {
    let scratch = Scratch::new("narrow");
    let path = scratch.file(
        "script.js",
        "import { sleep } from 'k6';
        export const options = { scenarios: {
            first: { executor: 'constant-vus', vus: 2, duration: '3600ms' },
            second: { executor: 'per-vu-iterations', vus: 1, iterations: 1 },
        } };
        export default function () { sleep(0.1); }
        export function handleSummary() { return {}; }",
    );
    let text = on_a_terminal(&format!("run {path}"));
    let drawn = text.matches("VUs  00m0").count();
    assert!(drawn >= 4, "it is drawn at least twice: {text:?}");
    let at = text.find("00m01.").expect("a first frame");
    // The verdict of a run on a machine that stood still is a line of its own length, which is no frame.
    let frames: String =
        text[at..].split_inclusive('\n').filter(|line| !line.contains("INVALID")).collect();
    let (rows, wrapped) = shown(&frames);
    assert!(!wrapped, "{rows:#?}");
    // The frames lie over each other: of each scenario one line of progress is left, and one of the end.
    let of = |name: &str| rows.iter().filter(|row| row.starts_with(name)).count();
    assert!(of("first") <= 2 && of("second") <= 2, "{rows:#?}");
}

#[test]
fn an_attack_stays_within_forty_columns() {
    let (_server, url) = server(Config::default());
    let text = on_a_terminal(&format!("bench -c 2 -d 4200ms -json {url}/"));
    assert!(text.matches("times").count() >= 2, "it is drawn at least twice: {text:?}");
    let live = text.split("{\"lat").next().unwrap();
    let (rows, wrapped) = shown(live);
    assert!(!wrapped, "{rows:#?}");
    assert!(!rows.iter().any(|row| row.contains("times")), "nothing stays: {rows:#?}");
}
