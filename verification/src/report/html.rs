//! The page `index.html`: one file without scripts or outside resources.

use super::view::Page;
use anyhow::Context as _;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};

/// Renders the page.
///
/// # Errors
/// Those of the template engine.
pub(super) fn render(page: &Page) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("report.html", include_str!("../../templates/report.html"))?;
    let style = Value::from_safe_string(include_str!("../../templates/style.css").into());
    let template = environment.get_template("report.html")?;
    template
        .render(minijinja::context! { style, ..Value::from(Serde(page)) })
        .context("cannot render index.html")
}

#[cfg(test)]
mod tests {
    use crate::report::{sample, view};
    use crate::run::Timings;
    use crate::status::RunStatus;

    fn page() -> String {
        let record = sample::record();
        let timings: Timings = record.claims.iter().map(|claim| (claim.id.clone(), 0.25)).collect();
        super::render(&view::page(&record, &timings, None, &RunStatus::of(&record, None)).unwrap()).unwrap()
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = page();
        for outside in ["<script", "src=", "<link", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!page.replace("http://www.w3.org/", "").contains("://"), "an address on the page");
    }

    #[test]
    fn the_page_shows_every_claim_mutant_and_plot_and_escapes_text() {
        let (page, record) = (page(), sample::record());
        for claim in &record.claims {
            assert!(page.contains(&format!("id=\"{}\"", claim.id)), "{}", claim.id);
        }
        let figures: usize = record.claims.iter().map(|claim| claim.honest.figures.len()).sum();
        assert_eq!(page.matches("<svg").count(), figures + 1);
        assert!(page.contains("the gradient &lt;without&gt; its 2"));
    }
}
