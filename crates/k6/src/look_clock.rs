//! The clock of scripts' interrupts: it has each script look whether it is to end every few hundredths of a second, whatever its
//! steps cost. It ends nothing itself.

use std::sync::Once;
use std::thread;
use std::time::Duration;

/// Between two looks. A script ends as much later than its time as this, and as the call that it is in.
const INTERVAL: Duration = Duration::from_millis(50);

/// Starts the clock, once for the process: scripts run before, during and after the test, on many threads.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let tick = || loop {
            thread::sleep(INTERVAL);
            script::look_everywhere();
        };
        // Where no thread is to be had, the interpreter looks once in thousands of steps, as it does by itself.
        let _ = thread::Builder::new().name("look clock".to_owned()).spawn(tick);
    });
}
