//! Why an OpenAPI document cannot be read at all.

use thiserror::Error;

/// Why a document cannot be used.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It begins as JSON and is none.
    #[error("not valid JSON: {0}")]
    Json(serde_json::Error),
    /// It is not YAML.
    #[error("not valid YAML: {0}")]
    Yaml(serde_norway::Error),
    /// Its brackets stand too deep in one another.
    #[error("not valid YAML: brackets stand too deep in one another")]
    TooDeep,
    /// Neither `openapi` nor `swagger` stands in it.
    #[error("neither `openapi` nor `swagger` stands in it")]
    NotOpenApi,
}
