//! Functions that are compiled twice: for every machine, and for those that calculate with eight numbers at once.

/// Compiles a function of plain values for the registers of AVX2, too, and takes that where the machine has them.
///
/// Both are the same code, in whole numbers: no result depends on which one runs.
macro_rules! for_wide_registers {
    ($(#[$about:meta])* pub fn $name:ident($($argument:ident: $Type:ty),* $(,)?) $(-> $Result:ty)? $body:block) => {
        $(#[$about])*
        pub fn $name($($argument: $Type),*) $(-> $Result)? {
            #[inline(always)]
            fn plain($($argument: $Type),*) $(-> $Result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            unsafe fn wide($($argument: $Type),*) $(-> $Result)? {
                plain($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has what it is compiled for
                return unsafe { wide($($argument),*) };
            }
            plain($($argument),*)
        }
    };
}

pub(crate) use for_wide_registers;
