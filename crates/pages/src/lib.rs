//! Pages of HTML: of a model, as a file that needs no other; and of a live study or of a model, by a small
//! server.
//!
//! The pages of a study are the same study as that of `lao study`: every request opens the folder, and closes
//! it before it is answered, so that pages and commands may be used side by side. What a page says is
//! recorded is on the disk. Pages are written by the server, and none has a script.
//!
//! | file | content |
//! |---|---|
//! | `model.rs` | the page of a model, and its model card |
//! | `server.rs` | connections: limits, time limits, an end |
//! | `http.rs` | requests and replies |
//! | `guard.rs` | who may see and send: token, cookie, form token, host, origin |
//! | `render.rs` | templates |
//! | `study/` | the pages of a study, one file each |
//! | `predict.rs` | predictions by a form and as JSON, with the bits of `lao predict` |

mod guard;
mod http;
mod model;
mod predict;
mod render;
mod server;
mod study;

pub use guard::Guard;
pub use model::{html, largest_first, markdown};
pub use predict::{ModelPages, json};
pub use server::{Server, Stop};
pub use study::StudyPages;
