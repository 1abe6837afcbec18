//! `Target`: one request to send, again and again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One request to send, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The method, as sent.
    pub method: String,
    /// The URL, as given.
    pub url: String,
    /// Header fields in order, names as given; repeats are kept.
    pub headers: Vec<(String, String)>,
    /// The request body; may be empty.
    #[serde(with = "stdx::shared")]
    pub body: Arc<[u8]>,
    /// How often it is chosen, relative to the others; 1 unless given.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: String,
}
