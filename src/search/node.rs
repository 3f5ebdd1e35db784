//! Node types, as types: what is known of a node at compile time.

/// Whether a node is the root, on the principal variation, or searched with a null window.
pub trait NodeType {
    const PV: bool;
    const ROOT: bool;
}

pub struct Root;
pub struct Pv;
pub struct NonPv;

impl NodeType for Root {
    const PV: bool = true;
    const ROOT: bool = true;
}
impl NodeType for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
}
impl NodeType for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
}
