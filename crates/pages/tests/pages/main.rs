//! The pages of a study and of a model, by HTTP.

mod client;
mod guard;
mod model;
mod study;
