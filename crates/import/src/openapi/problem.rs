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
    /// Neither `openapi` nor `swagger` stands in it.
    #[error("neither `openapi` nor `swagger` stands in it")]
    NotOpenApi,
}
