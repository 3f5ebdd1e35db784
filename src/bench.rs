//! Fixed positions, fixed depth: the signature of the search.
