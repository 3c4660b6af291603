//! How a caller hands over records, whatever it holds them in: Python its dictionaries, for example.

use crate::mechanics::SeekColumn;

/// A caller that hands over records, and what a value is there.
pub trait Caller: Sized {
    type Value;
    type Error;

    /// The value of a record's field; an error names both.
    fn field<T: Given<Self>>(record: &Self::Value, of: &str, name: &'static str) -> Result<T, Self::Error>;

    /// Refuses what a record has beside its fields and tags.
    fn refuse_others(
        record: &Self::Value,
        of: &str,
        fields: &[&'static str],
        tags: &[&'static str],
    ) -> Result<(), Self::Error>;

    /// Whether the value says that there is none.
    fn is_none(value: &Self::Value) -> bool;

    /// What a name means, which is one of those that are known.
    fn meant<T>(value: &Self::Value, of: impl FnOnce(&str) -> Option<T>, known: &[&str]) -> Result<T, Self::Error>;

    // what records are made of
    fn i32(value: &Self::Value) -> Result<i32, Self::Error>;
    fn i64(value: &Self::Value) -> Result<i64, Self::Error>;
    fn u32(value: &Self::Value) -> Result<u32, Self::Error>;
    fn u64(value: &Self::Value) -> Result<u64, Self::Error>;
    fn usize(value: &Self::Value) -> Result<usize, Self::Error>;
    fn f32(value: &Self::Value) -> Result<f32, Self::Error>;
    fn f64(value: &Self::Value) -> Result<f64, Self::Error>;
    fn bool(value: &Self::Value) -> Result<bool, Self::Error>;
    fn text(value: &Self::Value) -> Result<String, Self::Error>;
    fn small_numbers(value: &Self::Value) -> Result<Vec<u32>, Self::Error>;
    /// A long column.
    fn numbers(value: &Self::Value) -> Result<Vec<i64>, Self::Error>;
    fn seeks(value: &Self::Value) -> Result<SeekColumn, Self::Error>;
}

/// What a caller can hand over.
pub trait Given<C: Caller>: Sized {
    fn given(value: &C::Value) -> Result<Self, C::Error>;
}

impl<C: Caller, T: Given<C>> Given<C> for Option<T> {
    fn given(value: &C::Value) -> Result<Self, C::Error> {
        if C::is_none(value) {
            return Ok(None);
        }
        T::given(value).map(Some)
    }
}

impl<C: Caller, T: Given<C>> Given<C> for Box<T> {
    fn given(value: &C::Value) -> Result<Self, C::Error> {
        T::given(value).map(Box::new)
    }
}

macro_rules! plain {
    ($($Type:ty: $method:ident),*) => {
        $(impl<C: Caller> Given<C> for $Type {
            fn given(value: &C::Value) -> Result<Self, C::Error> {
                C::$method(value)
            }
        })*
    };
}

plain!(
    i32: i32, i64: i64, u32: u32, u64: u64, usize: usize, f32: f32, f64: f64, bool: bool, String: text,
    Vec<u32>: small_numbers, Vec<i64>: numbers, SeekColumn: seeks
);
