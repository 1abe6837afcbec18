//! the target server: chosen service time, queue and faults; also the tests' server.
