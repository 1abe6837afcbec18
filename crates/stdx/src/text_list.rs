//! `TextList`: many texts in one piece of memory. A text of its own takes some 24 bytes and an allocation beside its letters; here
//! it takes 8.

/// Many texts in one piece of memory, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextList {
    /// All of them, one after the other.
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl TextList {
    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of this number, counted from 0.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// The texts in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

impl<'a> FromIterator<&'a str> for TextList {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut list = Self::default();
        texts.into_iter().for_each(|text| list.push(text));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_numbers() {
        let texts = ["", "a", "", "über", "http://h/?q=1"];
        let list: TextList = texts.into_iter().collect();
        assert_eq!((list.len(), list.is_empty()), (5, false));
        assert!(list.iter().eq(texts));
        assert_eq!(
            (list.get(3), list.get(5), TextList::default().get(0)),
            (Some("über"), None, None)
        );
    }
}
