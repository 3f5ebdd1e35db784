//! [`Network`]: the parameters of a network of any shape, with their origin and scale.

use std::sync::Arc;

use super::arch::{Architecture, FV_SCALE};
use super::parameters::Parameters;
use super::shape::{HeadShape, Shape};

/// A network. Immutable and shared by all threads.
pub struct Network {
    parameters: Arc<dyn Parameters>,
    /// The architecture string of its file, or what made it.
    origin: String,
    fv_scale: i32,
}

impl Clone for Network {
    /// A copy in memory of its own, near the calling thread.
    fn clone(&self) -> Network {
        Network { parameters: self.parameters.copy(), origin: self.origin.clone(), fv_scale: self.fv_scale }
    }
}

impl Network {
    /// The network with these parameters; `origin` is the architecture string of their file, or what made
    /// them.
    pub fn new(parameters: Box<dyn Parameters>, origin: String) -> Network {
        let fv_scale = fv_scale_of(&origin).unwrap_or(FV_SCALE);
        Network { parameters: parameters.into(), origin, fv_scale }
    }

    /// The parameters.
    pub fn parameters(&self) -> &dyn Parameters {
        &*self.parameters
    }

    /// The parameters, for evaluation.
    pub(super) fn shared(&self) -> Arc<dyn Parameters> {
        self.parameters.clone()
    }

    /// The sizes.
    pub fn shape(&self) -> Shape {
        self.parameters.shape()
    }

    /// The shape, such as `HalfKP 256x2-32-32-1`.
    pub fn name(&self) -> String {
        let shape = self.shape();
        match shape.head {
            HeadShape::Hidden { .. } => format!("{shape}-1"),
            _ => shape.to_string(),
        }
    }

    /// The architecture.
    pub fn architecture(&self) -> Architecture {
        Architecture { shape: self.shape() }
    }

    /// The architecture string of its file, or what made it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The raw output for one unit of [`crate::types::Value`]: from the file, or else [the
    /// default](FV_SCALE). The USI option `FV_SCALE` overrides it.
    pub fn fv_scale(&self) -> i32 {
        self.fv_scale
    }
}

/// Some trainers append `fv_scale=N` to the architecture string; other networks do not record it.
fn fv_scale_of(string: &str) -> Option<i32> {
    let parts = string.split([',', ';', ' ']);
    let mut values = parts.filter_map(|part| part.split_once('=').filter(|(name, _)| *name == "fv_scale"));
    values.next().and_then(|(_, value)| value.parse().ok()).filter(|scale| (1..=128).contains(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_read_off_the_string() {
        for (string, scale) in [
            (
                "Features=HalfKP(Friend)[125388->1024x2],Network=AffineTransform[1<-64](...),fv_scale=14",
                Some(14),
            ),
            ("fv_scale=24,qa=127", Some(24)),
            ("Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32]", None),
            ("fv_scale=0", None),
            ("fv_scale=x", None),
            ("", None),
        ] {
            assert_eq!(fv_scale_of(string), scale, "{string}");
        }
    }
}
