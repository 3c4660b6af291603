//! Records that cross over: each field is listed once, and from that list comes how a record is read, from any caller (`given`)
//! or out of what serde reads, and the schema by which two versions differ; see `diskmodel/schema.py`.
//!
//! A record is refused that lacks a field, and one that has a field which is not known here.

use std::collections::BTreeSet;

/// What the schema says of a type; only Python compares it.
pub trait Described {
    /// What the type is called; the fields of records are added to `lines`.
    fn word(lines: &mut BTreeSet<String>) -> String;
}

/// Defines a record that a caller hands over; `as` gives its name in the schema where it has another one here.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $Name:ident $(as $word:literal)? {
            $($(#[$doc:meta])* $seen:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(deny_unknown_fields))]
        $visibility struct $Name {
            $(
                $(#[$doc])*
                #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::schema::required"))]
                $seen $field: $Type
            ),*
        }

        $crate::described!($Name, $crate::name!($Name $($word)?), $($field: $Type),*);

        impl $Name {
            /// Reads a record with these fields and tags, and nothing else.
            #[allow(dead_code)] // those without tags are read by `given` alone
            pub(crate) fn read<C: $crate::given::Caller>(
                from: &C::Value,
                tags: &[&'static str],
            ) -> Result<Self, C::Error> {
                let of = $crate::name!($Name $($word)?);
                let found = Self { $($field: C::field(from, of, stringify!($field))?),* };
                C::refuse_others(from, of, &[$(stringify!($field)),*], tags)?;
                Ok(found)
            }
        }

        impl<C: $crate::given::Caller> $crate::given::Given<C> for $Name {
            fn given(value: &C::Value) -> Result<Self, C::Error> {
                Self::read::<C>(value, &[])
            }
        }
    };
}

/// The name of a record in the schema.
#[macro_export]
macro_rules! name {
    ($Name:ident) => {
        stringify!($Name)
    };
    ($Name:ident $word:literal) => {
        $word
    };
}

/// What the schema says of a record.
#[macro_export]
macro_rules! described {
    ($Name:ident $(<$life:lifetime>)?, $word:expr, $($field:ident: $Type:ty),*) => {
        impl$(<$life>)? $crate::schema::Described for $Name$(<$life>)? {
            fn word(lines: &mut std::collections::BTreeSet<String>) -> String {
                $(
                    let word = <$Type as $crate::schema::Described>::word(lines);
                    lines.insert(format!("{}.{}: {word}", $word, stringify!($field)));
                )*
                $word.to_string()
            }
        }
    };
}

pub(crate) use record;

/// A field that has to be there, also where it may be null.
#[cfg(feature = "serde")]
pub fn required<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(from)
}

macro_rules! values {
    ($word:literal: $($Type:ty),*) => {
        $(impl Described for $Type {
            fn word(_: &mut BTreeSet<String>) -> String {
                $word.to_string()
            }
        })*
    };
}

values!("int": i32, i64, u32, u64, usize);
values!("float": f32, f64);
values!("bool": bool);
values!("str": String);
values!("int[]": crate::mechanics::SeekColumn);

impl<T: Described> Described for Vec<T> {
    fn word(lines: &mut BTreeSet<String>) -> String {
        T::word(lines) + "[]"
    }
}

impl<T: Described, const N: usize> Described for [T; N] {
    fn word(lines: &mut BTreeSet<String>) -> String {
        T::word(lines) + "[]"
    }
}

impl<T: Described> Described for Box<T> {
    fn word(lines: &mut BTreeSet<String>) -> String {
        T::word(lines)
    }
}

impl<T: Described> Described for Option<T> {
    fn word(lines: &mut BTreeSet<String>) -> String {
        T::word(lines) + "?"
    }
}
