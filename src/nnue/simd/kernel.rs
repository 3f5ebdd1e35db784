//! [`Kernel`]: the tiers of kernels, and the choice of the one in use.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// A tier of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kernel {
    /// Plain Rust, the reference.
    Scalar = 1,
    /// AVX2.
    Avx2,
    /// AVX2 and the byte dot products of AVX-VNNI.
    AvxVnni,
    /// AVX-512 (F, BW, DQ, VL) and its VNNI.
    Avx512,
    /// NEON.
    Neon,
}

impl Kernel {
    /// All tiers, from slow to fast.
    pub const ALL: [Kernel; 5] =
        [Kernel::Scalar, Kernel::Avx2, Kernel::AvxVnni, Kernel::Avx512, Kernel::Neon];

    /// The name in `--kernel` and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Scalar => "scalar",
            Kernel::Avx2 => "avx2",
            Kernel::AvxVnni => "avxvnni",
            Kernel::Avx512 => "avx512",
            Kernel::Neon => "neon",
        }
    }

    /// Whether the build includes the tier and the processor supports it.
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::AvxVnni => Kernel::Avx2.is_available() && is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => {
                Kernel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            // part of every aarch64 target of the standard library
            Kernel::Neon => cfg!(target_arch = "aarch64"),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a tier cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum KernelError {
    #[error("unknown kernel {0:?}; there are scalar, avx2, avxvnni, avx512, neon")]
    Unknown(String),
    #[error("this processor (or this build) has no {0} kernel")]
    Unavailable(Kernel),
    #[error("this build is compiled for the {0} kernel alone")]
    Fixed(Kernel),
}

impl FromStr for Kernel {
    type Err = KernelError;
    fn from_str(text: &str) -> Result<Kernel, KernelError> {
        let known = Kernel::ALL.into_iter().find(|k| k.name() == text);
        known.ok_or_else(|| KernelError::Unknown(text.to_owned()))
    }
}

/// The best tier, if the build's target features guarantee it: then there is no choice at run time. Debug and
/// test builds choose nevertheless, so that the other tiers can be tested.
const PROMISED: Option<Kernel> = if cfg!(debug_assertions) {
    None
} else if cfg!(all(
    target_arch = "x86_64",
    target_feature = "avx512f",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl",
    target_feature = "avx512vnni",
    target_feature = "avx2",
    target_feature = "bmi1",
    target_feature = "popcnt",
)) {
    Some(Kernel::Avx512)
} else if cfg!(target_arch = "aarch64") {
    Some(Kernel::Neon)
} else {
    None
};

/// The tier in use; 0 before the first use.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

#[inline(always)]
pub(super) fn active() -> Kernel {
    if let Some(kernel) = PROMISED {
        return kernel;
    }
    match ACTIVE.load(Ordering::Relaxed) {
        1 => Kernel::Scalar,
        2 => Kernel::Avx2,
        3 => Kernel::AvxVnni,
        4 => Kernel::Avx512,
        5 => Kernel::Neon,
        _ => choose(),
    }
}

#[cold]
fn choose() -> Kernel {
    let best = Kernel::ALL.into_iter().rfind(|k| k.is_available()).unwrap_or(Kernel::Scalar);
    ACTIVE.store(best as u8, Ordering::Relaxed);
    best
}

/// The tier in use.
pub fn kernel() -> Kernel {
    active()
}

/// The name of the tier in use.
pub fn kernel_name() -> &'static str {
    active().name()
}

/// Uses one tier from now on, in all threads. Results do not change, only the speed does.
///
/// # Errors
/// If the processor lacks it, or the build includes only another one.
pub fn force_kernel(kernel: Kernel) -> Result<(), KernelError> {
    if let Some(fixed) = PROMISED {
        return if fixed == kernel { Ok(()) } else { Err(KernelError::Fixed(fixed)) };
    }
    if !kernel.is_available() {
        return Err(KernelError::Unavailable(kernel));
    }
    // the processor has the tier's instructions, which `dispatch` relies on
    ACTIVE.store(kernel as u8, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_kernels_are_chosen() {
        #[cfg(target_arch = "x86_64")]
        assert_eq!(choose() != Kernel::Scalar, is_x86_feature_detected!("avx2"));
        #[cfg(target_arch = "aarch64")]
        assert_eq!(choose(), Kernel::Neon);
    }

    #[test]
    fn kernels_have_names() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.name().parse(), Ok(kernel));
        }
        assert_eq!("mmx".parse::<Kernel>(), Err(KernelError::Unknown("mmx".into())));
    }
}
