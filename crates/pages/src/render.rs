//! Templates, and the pages that need nothing else.

use crate::http::Reply;
use hyper::StatusCode;
use minijinja::{AutoEscape, Environment, Value, context};
use std::sync::OnceLock;

/// The sheet of styles of all pages.
pub const STYLES: &str = include_str!("../templates/style.css");

const TEMPLATES: [(&str, &str); 10] = [
    ("layout.html", include_str!("../templates/layout.html")),
    ("problem.html", include_str!("../templates/problem.html")),
    ("today.html", include_str!("../templates/today.html")),
    ("slot.html", include_str!("../templates/slot.html")),
    ("check.html", include_str!("../templates/check.html")),
    ("told.html", include_str!("../templates/told.html")),
    ("known.html", include_str!("../templates/known.html")),
    ("predict.html", include_str!("../templates/predict.html")),
    ("files.html", include_str!("../templates/files.html")),
    ("model.html", include_str!("../templates/model.html")),
];

/// Renders a template; what users wrote is escaped.
///
/// # Errors
/// When the template has a mistake.
pub fn render(name: &str, values: Value) -> anyhow::Result<String> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        for (name, text) in TEMPLATES {
            // The tests render all of them.
            let _ = environment.add_template(name, text);
        }
        environment
    });
    Ok(environment.get_template(name)?.render(values)?)
}

/// Returns the page that a template makes.
pub fn page(status: StatusCode, template: &str, values: Value) -> Reply {
    match render(template, values) {
        Ok(html) => Reply::page(status, html),
        Err(error) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "This page has a mistake", &error.to_string())
        }
    }
}

/// Returns a page that says what is wrong and what to do.
pub fn problem(status: StatusCode, title: &str, text: &str) -> Reply {
    let html = render("problem.html", context! { title, text });
    Reply::page(status, html.unwrap_or_else(|_| title.to_owned()))
}
