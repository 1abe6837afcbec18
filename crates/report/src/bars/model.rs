//! The charts of a sheet of bars, as values.

/// Charts of a sheet, at most; further ones are counted in a note.
pub const CHARTS_MAX: usize = 32;
/// Bars of a chart, at most; further ones are counted in a note.
pub const BARS_MAX: usize = 40;

/// Charts of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarSheet {
    /// What it shows; the page's title too.
    pub title: String,
    /// The charts in their order.
    pub charts: Vec<BarChart>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// One metric over labelled results.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// The metric's name on a command line.
    pub name: String,
    /// What is measured.
    pub title: String,
    /// Its unit; empty for none.
    pub unit: String,
    /// The bars from left to right.
    pub bars: Vec<Bar>,
}

/// One label's bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// The metric's value in each run; a bar without any is drawn as a gap.
    pub values: Vec<f64>,
}

impl Bar {
    /// Least, median and greatest value; `None` without values.
    #[must_use]
    pub fn range(&self) -> Option<[f64; 3]> {
        let mut sorted: Vec<f64> = self.values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some([low, median, high])
    }
}

impl BarChart {
    pub(super) fn heading(&self) -> String {
        match self.unit.as_str() {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }
}
