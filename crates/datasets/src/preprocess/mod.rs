//! Preparing a table: each step is fitted on training rows only and keeps what it learned.
