//! XPath over XML and pages.

/// Why a text is no XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XmlError {
    /// It does not begin with a tag.
    #[error("Content is not allowed in prolog.")]
    Prolog,
    /// It ends before its elements do.
    #[error("XML document structures must start and end within the same entity.")]
    Unfinished,
    /// It has a document type.
    #[error(
        "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true."
    )]
    DocumentType,
    /// Something else.
    #[error("{reason}")]
    Malformed {
        /// What is wrong.
        reason: roxmltree::Error,
    },
    /// Its elements stand too deep in one another.
    #[error("elements stand too deep in one another")]
    TooDeep,
}

/// Nodes of a text at most.
const NODES_MAX: u32 = 1_000_000;

/// A text as XML.
pub(crate) fn parse_xml(text: &str) -> Result<roxmltree::Document<'_>, XmlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('<') {
        return Err(XmlError::Prolog);
    }
    crate::document::bound_depth(text).map_err(|_| XmlError::TooDeep)?;
    let options = roxmltree::ParsingOptions {
        allow_dtd: false,
        nodes_limit: NODES_MAX,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(text, options).map_err(|reason| match reason {
        roxmltree::Error::DtdDetected => XmlError::DocumentType,
        roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
            XmlError::Unfinished
        }
        reason => XmlError::Malformed { reason },
    })
}
