//! Records that cross over: each field is listed once, and from that list comes how a record is read, out of Python or out
//! of what serde reads, and the schema by which two versions differ; see `diskmodel/schema.py`.
//!
//! A record is refused that lacks a field, and one that has a field which is not known here.

use std::collections::BTreeSet;

/// What the schema says of a type; only Python compares it.
#[cfg_attr(not(feature = "python"), allow(dead_code))]
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

        $crate::schema::described!($Name, $crate::schema::name!($Name $($word)?), $($field: $Type),*);

        #[cfg(feature = "python")]
        impl $Name {
            $crate::schema::read!([<'py>] 'py, $crate::schema::name!($Name $($word)?), $($field),*);
        }

        #[cfg(feature = "python")]
        impl<'py> $crate::python::extract::Given<'py> for $Name {
            fn given(value: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Self::read(value, &[])
            }
        }

        #[cfg(feature = "python")]
        impl<'a, 'py> pyo3::FromPyObject<'a, 'py> for $Name {
            type Error = pyo3::PyErr;

            fn extract(value: pyo3::Borrowed<'a, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Self::read(&value, &[])
            }
        }
    };
    // of columns that Python holds
    (
        $(#[$meta:meta])*
        $visibility:vis struct $Name:ident<$life:lifetime> $(as $word:literal)? {
            $($(#[$doc:meta])* $seen:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility struct $Name<$life> {
            $($(#[$doc])* $seen $field: $Type),*
        }

        $crate::schema::described!($Name<$life>, $crate::schema::name!($Name $($word)?), $($field: $Type),*);

        impl<$life> $Name<$life> {
            $crate::schema::read!([] $life, $crate::schema::name!($Name $($word)?), $($field),*);
        }

        impl<$life> $crate::python::extract::Given<$life> for $Name<$life> {
            fn given(value: &pyo3::Bound<$life, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Self::read(value, &[])
            }
        }

        impl<'a, $life> pyo3::FromPyObject<'a, $life> for $Name<$life> {
            type Error = pyo3::PyErr;

            fn extract(value: pyo3::Borrowed<'a, $life, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                Self::read(&value, &[])
            }
        }
    };
}

/// Defines a record that is returned to Python.
#[cfg(feature = "python")]
macro_rules! returned {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $Name:ident $(as $word:literal)? {
            $($(#[$doc:meta])* $seen:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(pyo3::IntoPyObject)]
        $visibility struct $Name {
            $($(#[$doc])* $seen $field: $Type),*
        }

        $crate::schema::described!($Name, $crate::schema::name!($Name $($word)?), $($field: $Type),*);
    };
}

macro_rules! name {
    ($Name:ident) => {
        stringify!($Name)
    };
    ($Name:ident $word:literal) => {
        $word
    };
}

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

#[cfg(feature = "python")]
macro_rules! read {
    ([$($generics:tt)*] $life:lifetime, $word:expr, $($field:ident),*) => {
        /// Reads a dictionary with these fields and tags, and nothing else.
        pub(crate) fn read $($generics)*(from: &pyo3::Bound<$life, pyo3::PyAny>, tags: &[&str]) -> pyo3::PyResult<Self> {
            let found = Self {
                $($field: $crate::python::extract::field(
                    from,
                    pyo3::intern!(from.py(), stringify!($field)),
                    ($word, stringify!($field)),
                )?),*
            };
            $crate::python::extract::refuse_others(from, $word, &[$(stringify!($field)),*], tags)?;
            Ok(found)
        }
    };
}

pub(crate) use {described, name, record};
#[cfg(feature = "python")]
pub(crate) use {read, returned};

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
