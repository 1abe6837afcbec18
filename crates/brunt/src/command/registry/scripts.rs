//! Commands that run scripts, and make them.

use cli::{CommandSpec, rows_of};

use crate::command::{import, record};
use crate::flags;
use crate::load::jmeter;

/// `run`.
pub(super) const RUN: CommandSpec = CommandSpec {
    name: "run",
    summary: "Run a k6 script, or a test plan of JMeter's.",
    operands: "SCRIPT|PLAN.jmx",
    about: "The script's options say what to run; flags override them. The summary, the log and the exit codes are k6's: 99 \
            for a crossed threshold, 107 for a script that throws. docs/reference/run.md lists what brunt does not \
            support. A plan of JMeter's runs by itself (-J, -skip-scripts), with the report of attack: docs/reference/jmeter.md.",
    examples: &[
        ("brunt run script.js", "with the script's own options"),
        (
            "brunt run -u 10 -d 30s -e HOST=http://127.0.0.1:3000 script.js",
            "ten users for half a minute",
        ),
        ("brunt run -J threads=20 plan.jmx", "a plan of JMeter's, with a property"),
    ],
    rows: k6::flags::run_rows,
    run: jmeter::run_script_or_plan,
    validate: Some(jmeter::validate_script_or_plan),
};

/// `inspect`.
pub(super) const INSPECT: CommandSpec = CommandSpec {
    name: "inspect",
    summary: "Show the options of a k6 script.",
    operands: "SCRIPT",
    about: "Prints the options as JSON, as k6's inspect does.",
    examples: &[(
        "brunt inspect -execution-requirements script.js",
        "also the duration and the number of users",
    )],
    rows: k6::flags::inspect_rows,
    run: k6::inspect,
    validate: None,
};

/// `archive`.
pub(super) const ARCHIVE: CommandSpec = CommandSpec {
    name: "archive",
    summary: "Put a k6 script and all the files it needs into one archive.",
    operands: "SCRIPT",
    about: "The archive has k6's format; `brunt run` and k6 itself run it.",
    examples: &[("brunt archive -O test.tar script.js", "then: brunt run test.tar")],
    rows: k6::flags::archive_rows,
    run: k6::archive,
    validate: None,
};

/// `lint`.
pub(super) const LINT: CommandSpec = CommandSpec {
    name: "lint",
    summary: "Find what is wrong with a k6 script before it runs.",
    operands: "SCRIPT",
    about: "Runs the script's init code and sends nothing; then says, with file, line and cure, what of the script and of the files \
            that it imports is wrong. Exit code 15 if there are errors or warnings. docs/reference/lint.md has the rules.",
    examples: &[
        ("brunt lint script.js", "as text"),
        ("brunt lint -format=sarif script.js > lint.sarif", "for the code host's page of a change"),
    ],
    rows: k6::flags::lint_rows,
    run: k6::lint,
    validate: None,
};

/// `vendor`.
pub(super) const VENDOR: CommandSpec = CommandSpec {
    name: "vendor",
    summary: "Put the modules that a k6 script imports from the network on disk, once.",
    operands: "SCRIPT",
    about: "The modules at https:// addresses go into brunt_modules/, and their hashes into brunt.lock: at the root of the script's \
            project (.git, package.json), or beside the script. Runs of scripts below read these and fetch nothing; a file that \
            is not what the lock says ends the run. Commit both. Libraries that are built in need neither \
            (docs/reference/run.md).",
    examples: &[
        ("brunt vendor script.js", "then: brunt run -offline script.js"),
        ("brunt vendor -update script.js", "fetch them anew"),
    ],
    rows: k6::flags::vendor_rows,
    run: k6::vendor,
    validate: None,
};

/// `new`.
pub(super) const NEW: CommandSpec = CommandSpec {
    name: "new",
    summary: "Write an example k6 script.",
    operands: "[FILE]",
    about: "",
    examples: &[("brunt new --template=protocol test.js", "scenarios, groups and thresholds")],
    rows: k6::flags::new_rows,
    run: k6::new,
    validate: None,
};

/// `import`.
pub(super) const IMPORT: CommandSpec = CommandSpec {
    name: "import",
    summary: "Make a k6 script of a browser's recording, curl lines, OpenAPI, Postman or .http files.",
    operands: "FILE…",
    about: import::ABOUT,
    examples: &[
        ("brunt import -output=shop.js shop.har", "a browser's recording as a script"),
        (
            "brunt import -to=targets login.sh | brunt attack -duration=10s",
            "a line of curl as load",
        ),
    ],
    rows: || rows_of(flags::import::IMPORT),
    run: import::run,
    validate: None,
};

/// `record`.
pub(super) const RECORD: CommandSpec = CommandSpec {
    name: "record",
    summary: "Record what a browser sends, as HAR or as a k6 script.",
    operands: "[URL]",
    about: record::ABOUT,
    examples: &[
        (
            "brunt record -browser -output=shop.js https://shop.example",
            "click through it, close the browser, then: brunt run shop.js",
        ),
        ("brunt record -output=shop.har -host=shop.example", "a proxy for any client"),
        ("brunt record -authority", "how clients trust it"),
    ],
    rows: || rows_of(flags::record::RECORD),
    run: record::run,
    validate: None,
};
