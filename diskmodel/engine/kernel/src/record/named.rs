//! Enums whose values have names: in scenarios they are texts, whatever the front end, never numbers.

/// Defines an enum of named values.
///
/// A scenario gives the name; any other text is refused with the list of names.
macro_rules! named {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $Name:ident { $($(#[$doc:meta])* $Value:ident = $name:literal),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Deserialize))]
        $visibility enum $Name {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $name))] $Value),*
        }

        #[allow(dead_code)] // not every choice is read by name in every build
        impl $Name {
            /// Names of all values, in order.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The value with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some($Name::$Value),)*
                    _ => None,
                }
            }
        }

        impl $crate::schema::Described for $Name {
            fn word(_: &mut std::collections::BTreeSet<String>) -> String {
                "str".to_string()
            }
        }

        impl<C: $crate::given::Caller> $crate::given::Given<C> for $Name {
            fn given(value: &C::Value) -> Result<Self, C::Error> {
                C::meant(value, $Name::named, $Name::NAMES)
            }
        }
    };
}

pub(crate) use named;
