//! A comparison as JUnit: a case for each limit of each variant, or, without limits, for each measure, which fails where it became
//! worse.

use study::contrast::{Finding, LimitVerdict};

use super::{Contrasts, Row, by};
use crate::junit::suite_of;
use crate::test_case::JunitCase;

impl Contrasts {
    /// As JUnit's XML, for build servers.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut cases: Vec<JunitCase> = self.rows.iter().flat_map(|row| self.cases(row)).collect();
        let fail =
            |text: String| JunitCase::new("variants with requests", String::new(), Some(text));
        cases.extend(self.not_compared().map(fail));
        suite_of(&self.title, &cases)
    }

    fn cases(&self, row: &Row) -> Vec<JunitCase> {
        let first = self.first_label();
        if self.limits.is_empty() {
            let of = |change: &super::Change| {
                let figure = by(change.measure, change.change);
                let found = format!("{figure}: {}", change.finding.name());
                let name = format!("{} of {} against {first}", change.measure.name(), row.label);
                let is_worse = change.finding == Finding::Worse;
                JunitCase::new(&name, found.clone(), is_worse.then_some(found))
            };
            return row.found.changes.iter().map(of).collect();
        }
        let of = |(limit, verdict): &(super::Limit, LimitVerdict)| {
            let figure = by(limit.measure, row.change(limit.measure).change);
            let failure =
                (*verdict != LimitVerdict::Within).then(|| self.sentence(row, limit, *verdict));
            JunitCase::new(&format!("{limit} of {} against {first}", row.label), figure, failure)
        };
        row.verdicts.iter().map(of).collect()
    }
}
