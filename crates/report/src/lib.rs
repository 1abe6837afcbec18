//! numbers for people: text, JSON, HTML, plots.
