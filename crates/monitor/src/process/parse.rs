//! The kernel's texts about processes and sockets, taken apart. Sources: proc(5), Documentation/networking/proc_net_tcp.rst.

use crate::machine::bytes;

/// What `/proc/PID/stat` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    /// The program's name, at most 15 bytes of it.
    pub(super) name: String,
    /// It has ended, and its parent has not waited for it.
    pub(super) is_over: bool,
    pub(super) parent: u32,
    /// Time on a core, of those threads too that have ended, in ticks.
    pub(super) ticks: u64,
    pub(super) threads: u64,
    /// When it began, in ticks since the machine did: together with the number, it is one process and no other.
    pub(super) started: u64,
}

/// `2206 (a (b) c) R 2184 …`: the name may hold anything, brackets too, so the last bracket ends it.
pub(super) fn stat(text: &str) -> Option<Stat> {
    let (front, rest) = text.rsplit_once(')')?;
    let (pid, name) = front.split_once('(')?;
    let words: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
    // Numbered from 1 in proc(5), where `state` is the third.
    let number = |field: usize| words.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        pid: pid.trim().parse().ok()?,
        name: name.chars().filter(|c| !c.is_control()).collect(),
        is_over: matches!(*words.first()?, "Z" | "X" | "x"),
        parent: u32::try_from(number(4)?).ok()?,
        ticks: number(14)?.saturating_add(number(15)?),
        threads: number(20)?,
        started: number(22)?,
    })
}

/// `VmRSS` of `/proc/PID/status`, in bytes; the kernel's own threads have none.
pub(super) fn rss(text: &str) -> Option<u64> {
    text.lines().find_map(|line| bytes(line.strip_prefix("VmRSS:")?))
}

/// The context switches of one thread, from its `status`.
pub(super) fn switches(text: &str) -> Option<u64> {
    let of = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    of("voluntary_ctxt_switches:")?.checked_add(of("nonvoluntary_ctxt_switches:")?)
}

/// How long one thread waited for a core, in nanoseconds, from its `schedstat`: time on a core, time that it waited for one, and
/// how often it had one.
pub(super) fn waited_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Sockets of one port at most: with SO_REUSEPORT there is one for each worker.
const LISTENERS_MAX: usize = 1024;

/// A socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) inode: u64,
    /// Connections that are made and not accepted yet: of such a socket `rx_queue` is their number.
    pub(super) waiting: u64,
}

/// The sockets that listen on this port, in the lines of `/proc/net/tcp` or `tcp6`. The kernel lists all that listen before the
/// first connection: what follows is not read.
pub(super) fn listeners(lines: impl Iterator<Item = String>, port: u16) -> Vec<Listener> {
    const LISTEN: &str = "0A";
    let listens =
        |line: &String| line.split_ascii_whitespace().nth(3).is_none_or(|state| state == LISTEN);
    let listener = |line: String| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (_, local_port) = words.next()?.rsplit_once(':')?;
        let is_ours = u16::from_str_radix(local_port, 16).ok()? == port;
        let (_, waiting) = words.nth(2)?.split_once(':')?;
        let waiting = u64::from_str_radix(waiting, 16).ok()?;
        let inode = words.nth(4)?.parse().ok().filter(|inode| is_ours && *inode != 0)?;
        Some(Listener { inode, waiting })
    };
    // The first line is the columns' names.
    lines.skip(1).take_while(listens).filter_map(listener).take(LISTENERS_MAX).collect()
}

/// The inode of what a descriptor's link says: `socket:[677]`.
pub(super) fn socket(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether a process is called so: by its program, or, where that is an interpreter, by its script; or as it calls itself
/// (`puma: cluster worker 0: …`). `command` is `/proc/PID/cmdline`, with a zero byte after each word.
pub(super) fn is_named(name: &str, program: &str, command: &str) -> bool {
    let last = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = command.split('\0');
    let first = words.next().unwrap_or_default();
    let title = first.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ']));
    if program == name || last(first) == name || title {
        return true;
    }
    let mut arguments = words.filter(|word| !word.starts_with('-'));
    is_interpreter(program) && arguments.next().is_some_and(|word| last(word) == name)
}

fn is_interpreter(program: &str) -> bool {
    const KNOWN: [&str; 8] = ["ruby", "python", "node", "perl", "php", "bash", "sh", "dash"];
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    KNOWN.contains(&plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_process() {
        let text = "2206 (cat) R 2184 2184 17149 0 -1 4194304 100 0 0 0 7 5 0 0 20 0 3 0 7131710 3133440 413 18446744073709551615";
        let expected = Stat {
            pid: 2206,
            name: "cat".into(),
            is_over: false,
            parent: 2184,
            ticks: 12,
            threads: 3,
            started: 7_131_710,
        };
        assert_eq!(stat(text), Some(expected));
        let odd = stat("7 (a) S 1 (b)\n) Z 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 9").unwrap();
        assert_eq!((odd.name.as_str(), odd.is_over, odd.started), ("a) S 1 (b)", true, 9));
        for text in ["", "7", "7 (a", "7 (a)", "x (a) S 1 1", "7 (a) S 1 2 3"] {
            assert_eq!(stat(text), None, "{text}");
        }
    }

    #[test]
    fn its_memory_and_switches() {
        let text = "Name:\truby\nVmRSS:\t   10240 kB\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!((rss(text), switches(text)), (Some(10 << 20), Some(157)));
        assert_eq!((rss("Name:\tkthreadd\n"), switches("")), (None, None));
        assert_eq!(
            (waited_ns("81937 1500 12\n"), waited_ns("1"), waited_ns("1 x")),
            (Some(1500), None, None)
        );
    }

    #[test]
    fn who_listens() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:0000001F 00:00000000 00000000     0        0 648 1 00000000677ee496 100 0 0 10 0
   1: 0100007F:1269 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 10221035 1 0000000096ab2473 100 0 0 10 0
   2: 0100007F:07E8 0100007F:1269 01 00000000:00000000 00:00000000 00000000     0        0 700 1 000000004c6654c1 100 0 0 10 0
";
        let listeners = |text: &str, port| listeners(text.lines().map(str::to_owned), port);
        let listener = |inode, waiting| Listener { inode, waiting };
        assert_eq!(listeners(text, 2024), [listener(648, 31)]);
        assert_eq!(listeners(text, 4713), [listener(10_221_035, 0)]);
        // Behind the first connection nothing is read, however long it is.
        let endless = text.lines().chain(std::iter::repeat(text.lines().last().unwrap()));
        assert_eq!(super::listeners(endless.map(str::to_owned), 2024), [listener(648, 31)]);
        let six = "  sl\n   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31 1 0 100 0 0 10 0\n";
        assert_eq!(listeners(six, 80), [listener(31, 0)]);
        assert_eq!(socket("socket:[648]"), Some(648));
        assert_eq!((socket("/dev/null"), socket("socket:[x]")), (None, None));
    }

    #[test]
    fn names() {
        let cases = [
            ("nginx", "nginx", "nginx: master process /usr/sbin/nginx\0", true),
            ("puma", "ruby", "puma 6.4.2 (tcp://0.0.0.0:9292) [app]\0", true),
            ("puma", "ruby", "puma: cluster worker 0: 17 [app]\0", true),
            ("puma", "ruby3.3", "/usr/bin/ruby3.3\0-w\0/usr/bin/puma\0-t\0", true),
            ("puma", "vim", "vim\0/usr/bin/puma\0", false),
            ("puma", "ruby", "ruby\0pumactl\0", false),
            ("anycable-go", "anycable-go", "", true),
            ("puma", "", "", false),
        ];
        for (name, program, command, expected) in cases {
            assert_eq!(is_named(name, program, command), expected, "{name}: {command:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([0-9]{1,22}|[()]|0A|[ :\n\t]|\\PC){0,60}") {
            drop((stat(&text), rss(&text), switches(&text), listeners(text.lines().map(str::to_owned), 80)));
            prop_assert!(socket(&text).is_none());
            is_named(&text, "ruby", &text);
        }
    }
}
