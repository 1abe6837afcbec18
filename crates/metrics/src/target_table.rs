//! `TargetTable`: the targets that samples number. It is either what a reader found, row by row, or that of a plan, whose texts it
//! shares: there may be a million of them.

use std::sync::Arc;

use stdx::TextList;

/// What every hit of one target has in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TargetLabel {
    /// The attack's name (`-name`); may be empty.
    pub attack: String,
    /// The method, as sent.
    pub method: String,
    /// The URL as written in the target.
    pub url: String,
    /// A name to group by, where the target has one; else empty.
    pub name: String,
    /// The tags that a script gave it, as a JSON object of texts; else empty.
    pub tags: String,
}

/// A row of a table; its fields are those of a [`TargetLabel`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelRef<'a> {
    /// The attack's name.
    pub attack: &'a str,
    /// The method.
    pub method: &'a str,
    /// The URL.
    pub url: &'a str,
    /// A name to group by; else empty.
    pub name: &'a str,
    /// Tags as a JSON object of texts; else empty.
    pub tags: &'a str,
}

/// The targets of a plan as its rows name them, in the order of the targets.
#[derive(Clone, Debug, Default)]
pub struct PlannedLabels {
    /// The attack's name.
    pub attack: String,
    /// The URL of each target, without its password.
    pub urls: Arc<TextList>,
    /// The name of each; those past its end have none.
    pub names: Arc<TextList>,
    /// The methods; many targets have the same.
    pub methods: Vec<String>,
    /// Which of the methods each has.
    pub method_of: Arc<Vec<u32>>,
}

/// The targets that [`Sample::target`](crate::Sample::target) numbers. Rows are only added, so numbers are stable.
#[derive(Clone, Debug)]
pub struct TargetTable {
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    Found(Vec<TargetLabel>),
    Planned(Arc<PlannedLabels>),
}

impl TargetTable {
    /// The row of this number; `None` for [`NO_TARGET`](crate::NO_TARGET).
    #[must_use]
    #[inline]
    pub fn get(&self, target: u32) -> Option<LabelRef<'_>> {
        match &self.rows {
            Rows::Found(labels) => labels.get(target as usize).map(TargetLabel::as_ref),
            Rows::Planned(planned) => planned.get(target as usize),
        }
    }

    /// The first row.
    #[must_use]
    pub fn first(&self) -> Option<LabelRef<'_>> {
        self.get(0)
    }

    /// How many rows there are.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Found(labels) => labels.len(),
            Rows::Planned(planned) => planned.urls.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows in their order.
    pub fn iter(&self) -> impl Iterator<Item = LabelRef<'_>> {
        self.iter_from(0)
    }

    /// The rows from this number on.
    pub fn iter_from(&self, number: usize) -> impl Iterator<Item = LabelRef<'_>> {
        (number..self.len()).filter_map(|number| self.get(u32::try_from(number).ok()?))
    }

    /// Adds a row.
    pub fn push(&mut self, label: TargetLabel) {
        if let Rows::Planned(_) = &self.rows {
            let labels = self.iter().map(LabelRef::to_label).collect();
            self.rows = Rows::Found(labels);
        }
        if let Rows::Found(labels) = &mut self.rows {
            labels.push(label);
        }
    }
}

impl PlannedLabels {
    fn get(&self, number: usize) -> Option<LabelRef<'_>> {
        let url = self.urls.get(number)?;
        let method = &self.methods[self.method_of[number] as usize];
        let name = self.names.get(number).unwrap_or_default();
        Some(LabelRef { attack: &self.attack, method, url, name, tags: "" })
    }
}

impl TargetLabel {
    /// The same as a row.
    #[must_use]
    #[inline]
    pub fn as_ref(&self) -> LabelRef<'_> {
        let Self { attack, method, url, name, tags } = self;
        LabelRef { attack, method, url, name, tags }
    }
}

impl LabelRef<'_> {
    /// The same with texts of its own.
    #[must_use]
    pub fn to_label(self) -> TargetLabel {
        TargetLabel {
            attack: self.attack.to_owned(),
            method: self.method.to_owned(),
            url: self.url.to_owned(),
            name: self.name.to_owned(),
            tags: self.tags.to_owned(),
        }
    }
}

impl Default for TargetTable {
    fn default() -> Self {
        Self { rows: Rows::Found(Vec::new()) }
    }
}

impl From<Vec<TargetLabel>> for TargetTable {
    fn from(labels: Vec<TargetLabel>) -> Self {
        Self { rows: Rows::Found(labels) }
    }
}

impl From<PlannedLabels> for TargetTable {
    fn from(planned: PlannedLabels) -> Self {
        Self { rows: Rows::Planned(Arc::new(planned)) }
    }
}

impl FromIterator<TargetLabel> for TargetTable {
    fn from_iter<I: IntoIterator<Item = TargetLabel>>(labels: I) -> Self {
        Self::from(labels.into_iter().collect::<Vec<_>>())
    }
}

impl Extend<TargetLabel> for TargetTable {
    fn extend<I: IntoIterator<Item = TargetLabel>>(&mut self, labels: I) {
        labels.into_iter().for_each(|label| self.push(label));
    }
}

impl PartialEq for TargetTable {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for TargetTable {}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned() -> PlannedLabels {
        PlannedLabels {
            attack: "load".to_owned(),
            urls: Arc::new(["http://a/", "http://b/", "http://c/"].into_iter().collect()),
            names: Arc::new(["", "b"].into_iter().collect()),
            methods: vec!["GET".to_owned(), "PUT".to_owned()],
            method_of: Arc::new(vec![0, 1, 0]),
        }
    }

    #[test]
    fn a_plans_rows_are_as_found_ones() {
        let label = |method: &str, url: &str, name: &str| TargetLabel {
            attack: "load".to_owned(),
            method: method.to_owned(),
            url: url.to_owned(),
            name: name.to_owned(),
            tags: String::new(),
        };
        let labels =
            [("GET", "http://a/", ""), ("PUT", "http://b/", "b"), ("GET", "http://c/", "")];
        let mut found: TargetTable =
            labels.into_iter().map(|(method, url, name)| label(method, url, name)).collect();
        let mut table = TargetTable::from(planned());
        assert_eq!((table.len(), table.first()), (3, found.get(0)));
        assert_eq!((table.get(3), table.get(crate::NO_TARGET)), (None, None));
        assert_eq!(table, found);
        let more = label("PUT", "http://d/", "d");
        table.push(more.clone());
        found.push(more);
        assert_eq!((table.len(), &table), (4, &found));
        assert!(table.iter_from(2).eq(found.iter().skip(2)));
    }
}
