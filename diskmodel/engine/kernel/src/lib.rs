//! The native simulation kernel of diskmodel.
#[cfg(feature = "python")]
use pyo3::prelude::*;

#[cfg(feature = "python")]
#[pymodule]
mod _kernel {
    /// True when the kernel was built without optimisation.
    #[pymodule_export]
    const IS_DEBUG_BUILD: bool = cfg!(debug_assertions);
}
