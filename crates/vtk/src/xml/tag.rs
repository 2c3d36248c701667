//! The start tag of an element.

use std::str::FromStr;

use crate::error::Error;
use crate::source::{ErrorContext, Source};

/// The start tag of an element.
#[derive(Debug, Clone)]
pub(super) struct Tag<'a> {
    pub(super) name: String,
    source: &'a Source,
    offset: u64,
    attributes: Vec<(String, String)>,
    /// The name of the element in messages.
    element: String,
}

impl<'a> Tag<'a> {
    pub(super) fn new(
        source: &'a Source,
        offset: u64,
        name: String,
        attributes: Vec<(String, String)>,
    ) -> Self {
        let mut tag = Self { name, source, offset, attributes, element: String::new() };
        tag.element = match tag.text("Name") {
            Some(array) => format!("element `{}` with the name `{array}`", tag.name),
            None => format!("element `{}`", tag.name),
        };
        tag
    }

    pub(super) fn context(&self) -> ErrorContext<'_> {
        self.source.context(self.offset, &self.element)
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The value of an attribute.
    pub(super) fn text(&self, attribute: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(name, _)| name == attribute);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of an attribute as a number.
    pub(super) fn number<T: FromStr>(&self, attribute: &str) -> Result<Option<T>, Error> {
        let Some(text) = self.text(attribute) else {
            return Ok(None);
        };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.bad_value(attribute, text, "a valid number")),
        }
    }

    /// The value of an attribute as `N` numbers.
    pub(super) fn numbers<T: FromStr + Copy, const N: usize>(
        &self,
        attribute: &str,
    ) -> Result<Option<[T; N]>, Error> {
        let Some(text) = self.text(attribute) else {
            return Ok(None);
        };
        let words = text.split_whitespace();
        let numbers: Option<Vec<T>> = words.map(|word| word.parse().ok()).collect();
        match numbers.and_then(|numbers| <[T; N]>::try_from(numbers).ok()) {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(self.bad_value(attribute, text, &format!("{N} numbers"))),
        }
    }

    /// The value of a required attribute.
    pub(super) fn required<T>(&self, attribute: &str, value: Option<T>) -> Result<T, Error> {
        let found = || format!("no attribute `{attribute}`");
        value.ok_or_else(|| self.context().malformed(found(), "this attribute"))
    }

    pub(super) fn bad_value(&self, attribute: &str, text: &str, expected: &str) -> Error {
        let found = crate::source::shortened(text.as_bytes());
        self.context().malformed(format!("`{attribute}=\"{found}\"`"), expected)
    }
}
