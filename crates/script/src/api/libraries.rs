//! The libraries that scripts import by address and that are answered without a network. Our own are written from documented
//! behaviour; the others are packages of npm, see `modules/README.md`. A version is here where what it does is known; of other
//! versions nothing is, and they are fetched.

use crate::loader::builtins::{Library, LibraryText};

/// Every library.
pub(super) const LIBRARIES: &[Library] = &[
    own("brunt:k6-utils", include_str!("jslib/k6_utils.js")),
    own(
        "https://jslib.k6.io/k6-utils/1.0.0/",
        "export { randomIntBetween, randomItem, randomString, uuidv4 } from 'brunt:k6-utils';",
    ),
    own(
        "https://jslib.k6.io/k6-utils/1.1.0/",
        "export { findBetween, randomIntBetween, randomItem, randomString, uuidv4 } from 'brunt:k6-utils';",
    ),
    own(
        "https://jslib.k6.io/k6-utils/1.2.0/",
        "export { findBetween, normalDistributionStages, randomIntBetween, randomItem, randomString, uuidv4 } from 'brunt:k6-utils';",
    ),
    own("https://jslib.k6.io/k6-utils/1.3.0/", WITH_STAGES),
    own("https://jslib.k6.io/k6-utils/1.4.0/", WITH_STAGES),
    own(
        "https://jslib.k6.io/k6-utils/1.5.0/",
        "export { checkConditions as check, findBetween, getCurrentStageIndex, normalDistributionStages, parseDuration, randomIntBetween, randomItem, randomString, tagWithCurrentStageIndex, tagWithCurrentStageProfile, uuidv4 } from 'brunt:k6-utils';",
    ),
    own(
        "https://jslib.k6.io/k6-utils/1.6.0/",
        "export { check, findBetween, getCurrentStageIndex, normalDistributionStages, parseDuration, randomIntBetween, randomItem, randomString, tagWithCurrentStageIndex, tagWithCurrentStageProfile, uuidv4 } from 'brunt:k6-utils';",
    ),
    own("https://jslib.k6.io/k6-rails/", include_str!("jslib/k6_rails.js")),
    own("https://jslib.k6.io/url/1.0.0/", include_str!("jslib/url.js")),
    own("brunt:k6-summary", include_str!("jslib/k6_summary.js")),
    own("https://jslib.k6.io/k6-summary/0.0.*/index.js", SUMMARY),
    own("https://jslib.k6.io/k6-summary/0.1.0/", SUMMARY),
    own("brunt:k6-reporter", include_str!("jslib/k6_reporter.js")),
    own("https://raw.githubusercontent.com/benc-uk/k6-reporter/*/dist/bundle.js", REPORTER),
    own("https://cdn.jsdelivr.net/gh/benc-uk/k6-reporter*/dist/bundle.js", REPORTER),
    own("https://jslib.k6.io/formdata/0.0.*/index.js", include_str!("jslib/formdata.js")),
    own("https://jslib.k6.io/httpx/0.0.*/index.js", include_str!("jslib/httpx.js")),
    own("https://jslib.k6.io/httpx/0.1.0/", include_str!("jslib/httpx.js")),
    own("https://jslib.k6.io/totp/1.0.0/", include_str!("jslib/totp.js")),
    own("brunt:instrumented-http", include_str!("jslib/instrumented_http.js")),
    own(
        "https://jslib.k6.io/http-instrumentation-tempo/1.0.*/index.js",
        include_str!("jslib/http_instrumentation_tempo.js"),
    ),
    own(
        "https://jslib.k6.io/http-instrumentation-pyroscope/1.0.*/index.js",
        include_str!("jslib/http_instrumentation_pyroscope.js"),
    ),
    own("brunt:k6chaijs", include_str!("jslib/k6chaijs.js")),
    packed("brunt:chai-4.3", include_str!("../../assets/chai-4.3.js.b64")),
    packed("brunt:chai-4.5", include_str!("../../assets/chai-4.5.js.b64")),
    own("https://jslib.k6.io/k6chaijs/4.3.4.*/index.js", CHAI_4_3),
    own("https://jslib.k6.io/k6chaijs/4.5.0.*/index.js", CHAI_4_5),
    packed("https://jslib.k6.io/ajv/6.12.5/", include_str!("../../assets/ajv.js.b64")),
    packed(
        "https://jslib.k6.io/form-urlencoded/3.0.0/",
        include_str!("../../assets/form-urlencoded.js.b64"),
    ),
    packed("https://jslib.k6.io/jsonpath/1.0.2/", include_str!("../../assets/jsonpath.js.b64")),
    packed("https://jslib.k6.io/papaparse/5.1.1/", include_str!("../../assets/papaparse.js.b64")),
];

const fn packed(address: &'static str, text: &'static str) -> Library {
    Library { address, text: LibraryText::Packed(text) }
}

const fn own(address: &'static str, text: &'static str) -> Library {
    Library { address, text: LibraryText::Plain(text) }
}

/// The versions of k6-utils that know of stages and have no `check`.
const WITH_STAGES: &str = "export { findBetween, getCurrentStageIndex, normalDistributionStages, parseDuration, randomIntBetween, randomItem, randomString, tagWithCurrentStageIndex, tagWithCurrentStageProfile, uuidv4 } from 'brunt:k6-utils';";
/// Every version of k6-summary.
const SUMMARY: &str = "export { humanizeValue, jUnit, textSummary } from 'brunt:k6-summary';";
/// Every version of k6-reporter.
const REPORTER: &str = "export { htmlReport } from 'brunt:k6-reporter';";
/// The versions of k6chaijs on chai 4.3.4.
const CHAI_4_3: &str = "import chai from 'brunt:chai-4.3'; import { adapted } from 'brunt:k6chaijs'; export const { describe, expect } = adapted(chai); export { chai }; export default chai;";
/// The versions of k6chaijs on chai 4.5.0.
const CHAI_4_5: &str = "import chai from 'brunt:chai-4.5'; import { adapted } from 'brunt:k6chaijs'; export const { describe, expect } = adapted(chai); export { chai }; export default chai;";
