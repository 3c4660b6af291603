//! Records that Python alone hands over, and those that are returned to it.

/// Defines a record that Python hands over, with its name in the schema.
macro_rules! taken {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $Name:ident$(<$life:lifetime>)? as $word:literal {
            $($(#[$doc:meta])* $seen:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility struct $Name$(<$life>)? {
            $($(#[$doc])* $seen $field: $Type),*
        }

        diskmodel_kernel::described!($Name $(<$life>)?, $word, $($field: $Type),*);

        impl<'py> diskmodel_kernel::given::Given<$crate::extract::FromPython<'py>> for $crate::records::of!($Name $($life)?) {
            fn given(value: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                use diskmodel_kernel::given::Caller;
                use $crate::extract::FromPython;

                let found = Self { $($field: FromPython::field(value, $word, stringify!($field))?),* };
                FromPython::refuse_others(value, $word, &[$(stringify!($field)),*], &[])?;
                Ok(found)
            }
        }
    };
}

/// A record, of columns that live as long as Python's objects where it has a lifetime.
macro_rules! of {
    ($Name:ident) => {
        $Name
    };
    ($Name:ident $life:lifetime) => {
        $Name<'py>
    };
}

/// Defines a record that is returned to Python.
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

        diskmodel_kernel::described!($Name, diskmodel_kernel::name!($Name $($word)?), $($field: $Type),*);
    };
}

pub(crate) use {of, returned, taken};
