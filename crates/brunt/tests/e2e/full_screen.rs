//! `-tui` on a terminal of our own: what it draws, keys, another size, no colour, no terminal, and the terminal afterwards.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use demo::Config;
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::{Scratch, brunt, run, server, until};

/// A command on a terminal, which is its controlling one.
struct OnTerminal {
    child: Child,
    /// The other end: keys go in here.
    master: File,
    /// One more handle of the command's end, to look at how the terminal is set up.
    slave: File,
    text: Arc<Mutex<Vec<u8>>>,
}

impl OnTerminal {
    fn start(mut command: Command, columns: u16) -> Self {
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let (master, slave) = (File::from(pty.master), File::from(pty.slave));
        command.stdin(slave.try_clone().unwrap()).stdout(Stdio::null());
        command.stderr(slave.try_clone().unwrap()).process_group(0);
        // util-linux's setsid makes the terminal the controlling one.
        let mut under = Command::new("setsid");
        under.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => under.env(name, value),
                None => under.env_remove(name),
            };
        }
        under.stdin(slave.try_clone().unwrap()).stdout(Stdio::null());
        under.stderr(slave.try_clone().unwrap());
        let child = under.spawn().unwrap();
        let text = Arc::<Mutex<Vec<u8>>>::default();
        let (into, mut from) = (Arc::clone(&text), master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once the other end is closed, reading fails.
            while let Ok(len @ 1..) = from.read(&mut bytes) {
                into.lock().unwrap().extend_from_slice(&bytes[..len]);
            }
        });
        Self { child, master, slave, text }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    /// What is drawn, without the sequences that place and colour it.
    fn words(&self) -> String {
        let text = self.text();
        let mut words = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\u{1b}' => drop(chars.by_ref().find(char::is_ascii_alphabetic)),
                c => words.push(c),
            }
        }
        words
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_flags.contains(LocalFlags::ECHO | LocalFlags::ICANON)
    }

    fn ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

#[test]
fn a_run_is_drawn_and_stopped_by_a_key() {
    let scratch = Scratch::new("tui");
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets.txt", format!("GET {url}/one\nGET {url}/two\n"));
    let line = format!("attack -targets={targets} -rate=100 -duration=5m -output=none -tui");
    let mut run = OnTerminal::start(brunt(&line), 100);
    until("seconds are drawn", || run.words().contains("/one") && run.words().contains("p99"));
    assert!(run.text().contains(ENTER) && !run.text().contains(LEAVE));
    assert!(!run.echoes(), "keys come one by one");
    run.master.write_all(b"?").unwrap();
    // Spaces that stood there before are not drawn again.
    until("the keys are listed", || run.words().replace(' ', "").contains("sorttargets"));
    run.master.write_all(b"sq").unwrap();
    until("q ends the run", || run.ended());
    until("the terminal is as it was", || run.text().contains(LEAVE) && run.echoes());
    assert!(run.text().contains("\u{1b}[0;"), "there are colours");
}

#[test]
fn signals_give_the_terminal_back() {
    let (_server, url) = server(Config::default());
    let mut command = brunt(&format!("bench -c 2 -z 5m -output=none -tui {url}/"));
    command.env("NO_COLOR", "1");
    let mut run = OnTerminal::start(command, 70);
    until("it is drawn", || run.words().contains("answered"));
    for colour in ["[0;31m", "[0;34m", "[0;36m"] {
        assert!(!run.text().contains(colour), "NO_COLOR");
    }
    // Ctrl-C is a signal still, and the third ends the process at once.
    run.master.write_all(b"\x03\x03\x03").unwrap();
    until("Ctrl-C ends the run", || run.ended());
    until("the terminal is as it was", || run.text().contains(LEAVE) && run.echoes());
}

#[test]
fn a_script_is_drawn_and_its_console_waits() {
    let scratch = Scratch::new("tui-script");
    let (_server, url) = server(Config::default());
    let source = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 2, duration: '3s' }};
        export default () => {{ http.get('{url}/', {{ tags: {{ name: 'home' }} }}); if (__ITER === 3) console.log('hello there'); sleep(0.1); }}"
    );
    let script = scratch.file("script.js", source);
    let mut run = OnTerminal::start(brunt(&format!("run -tui {script}")), 120);
    until("the script's requests are drawn", || run.words().contains("home"));
    assert!(!run.words().contains("hello there"), "it would destroy the view");
    until("the script ends", || run.ended());
    until("lines come afterwards", || {
        run.text().split(LEAVE).nth(1).is_some_and(|rest| rest.contains("hello there"))
    });
}

#[test]
fn without_a_terminal_the_run_goes_on() {
    let (_server, url) = server(Config::default());
    let ran = run(&format!("bench -c 1 -n 10 -output=none -tui {url}/")).with_code(0);
    assert!(ran.stderr.contains("-tui: standard error is not a terminal"), "{}", ran.stderr);
    assert!(ran.stdout.contains("10"), "{}", ran.stdout);
}
