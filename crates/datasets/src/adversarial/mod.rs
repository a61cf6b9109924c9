//! Lower-bound and hardness instances of the papers.
