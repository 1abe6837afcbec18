//! A fitted model for people and programs: the table of measured and predicted figures, what one worker more would bring, JSON,
//! the figure with both, and the words of a refusal.

mod figure;
mod input;
mod json;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use self::figure::figure;
pub use self::input::FitInput;
pub use self::json::json;
pub(crate) use self::text::sentence;
pub use self::text::text;
