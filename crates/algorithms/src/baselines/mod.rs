//! The methods that the papers compare with.
