//! What to do about what limits the server: advice that changes something where it is followed.

use super::limit::{CPU_FULL, Limit, database_share, limit};
use super::servers::Servers;

/// What to do about what limits the server.
pub(super) fn remedy(servers: &Servers) -> &'static str {
    match limit(servers, true) {
        Some(Limit::Quota) => "raise the container's CPU quota, or use less CPU per request",
        Some(Limit::ListenQueue) => "add workers or processes, or raise the listen backlog",
        Some(Limit::CpuOfOthers) => {
            "end the other programs, or run the load generator on another machine, and measure again"
        }
        Some(Limit::Cpu) => "use less CPU per request, or more cores",
        Some(Limit::OneCore) if database_share(servers).is_some() => {
            "look at the queries (an index), whose work is done in this process, or spread it over more processes (its threads share \
             one core)"
        }
        Some(Limit::OneCore) => "spread the work over more processes (its threads share one core)",
        Some(Limit::Stolen) => "use a machine with CPUs of its own",
        Some(Limit::Disk) => "reduce what is read from and written to the disk",
        Some(Limit::Memory) => "give the machine more memory, or use less",
        Some(Limit::Database) => "look at the queries, and at the database's own machine",
        Some(Limit::Inside) => inside_remedy(servers),
        Some(Limit::Workers) => workers_remedy(servers),
        Some(Limit::Queue) => queue_remedy(servers),
        None => unseen_remedy(servers),
    }
}

/// Another thread would wait as the others do.
fn inside_remedy(servers: &Servers) -> &'static str {
    let waits = servers.application.as_ref().and_then(|one| one.waits);
    match waits.is_some_and(|waits| waits.knows_database) {
        true => {
            "look for what requests wait for inside the application: a lock, a connection pool (more connections), another \
             service"
        }
        false => {
            "look for what requests wait for inside the application: a lock, a connection pool (more connections), a database, \
             another service (the log of Rails tells the database's time, -watch-log=rails:FILE)"
        }
    }
}

/// What else to watch, where nothing that was watched is at its limit.
fn unseen_remedy(servers: &Servers) -> &'static str {
    let has_processes = servers.cpu.as_ref().is_some_and(|cpu| cpu.watched.is_some());
    match (has_processes, servers.application.is_some(), servers.accept_queue.is_some()) {
        (true, false, true) => {
            "watch the application's log, too (-watch-log=rails:FILE), and look at what passes requests on to it (a proxy, its \
             limits and connections), since the server accepts connections at once"
        }
        (true, false, false) => {
            "watch the server's port and its log, too (-watch-port=PORT, -watch-log=rails:FILE)"
        }
        (false, true, _) => "watch the server's processes, too (-watch-port=PORT)",
        (true, true, _) => {
            "look at what requests wait for outside the processes and logs that were watched (a proxy, another service)"
        }
        (false, false, _) => {
            "watch more of the server (its processes with -watch-port, its log with -watch-log)"
        }
    }
}

fn workers_remedy(servers: &Servers) -> &'static str {
    if servers.application.is_none() && has_spare_cpu(servers) {
        return "see what its threads or workers wait for, since the CPU has room (its log, -watch-log=rails:FILE: a lock, a \
                connection pool, the database); where it is nothing of these, try more of them";
    }
    let waits = servers.application.as_ref().and_then(|one| one.waits);
    match waits {
        Some(waits) if waits.is_most() => {
            "try more workers or threads (and as many connections in its pools), since each request waits a fixed time for \
             something outside; or make that quicker"
        }
        // Threads of one process share a core where most of a request is CPU.
        Some(_) if has_spare_cpu(servers) => {
            "try more worker processes, and threads where requests wait for the database, since the CPU has room"
        }
        _ if has_spare_cpu(servers) => "try more workers or threads, since the CPU has room",
        _ => "try more workers or threads",
    }
}

fn queue_remedy(servers: &Servers) -> &'static str {
    let threads = servers.application.as_ref().and_then(|one| one.threads);
    match threads {
        Some(_) if servers.takes_no_more() => {
            "try more threads or workers: connections wait to be accepted though few requests are worked on, so that those there are \
             may be kept for connections without a request"
        }
        None if servers.accept_queue.is_some() => {
            "look at what passes requests on to the application (a proxy, its limits and connections), since it accepts \
             connections at once"
        }
        Some(_) => {
            "look at what passes requests on to the application (a proxy, its limits and connections), since threads are free"
        }
        None => {
            "see whether its threads are taken (-watch-port=PORT counts Puma's, or -watch-scrape=URL of Puma's control server), \
             and look at what passes requests on to it (a proxy)"
        }
    }
}

fn has_spare_cpu(servers: &Servers) -> bool {
    servers.cpu.as_ref().is_some_and(|cpu| cpu.utilisation() < CPU_FULL)
}
