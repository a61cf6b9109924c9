//! Nothing: the list of dependencies is what this crate is for.
