//! `Sample`: a measurement that a script makes by itself, and its tags.

use std::rc::Rc;

use metrics::tally::MetricId;
use stdx::Nanos;

/// Names and values, in their order.
pub type TagList = Vec<(String, String)>;

/// One measurement that a script made by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric.
    pub metric: MetricId,
    /// When: the time of [`Host::sampled_at`](super::traits::Host::sampled_at).
    pub at: Nanos,
    /// The value; times in milliseconds, rates as 0 or 1.
    pub value: f64,
    /// The group it was made in, `::outer::inner`; empty outside of any.
    pub group: Rc<str>,
    /// The check's name, of a sample of `checks`.
    pub check: Option<Rc<str>>,
    /// Its own tags; `None` for none.
    pub tags: Option<Rc<TagList>>,
    /// The VU's tags at that time; `None` for none.
    pub vu_tags: Option<Rc<TagList>>,
    /// The VU's metadata at that time; `None` for none.
    pub metadata: Option<Rc<TagList>>,
}
