//! The conversion of LaTeX formulas to MathML.

use pulldown_latex::{Parser, RenderConfig, Storage, config::DisplayMode, push_mathml};

/// Returns the formula as MathML, in display style.
///
/// # Errors
/// The parser's message, when the formula uses a command that the parser does not know.
pub fn mathml(latex: &str) -> Result<String, String> {
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(latex, &storage).collect();
    if let Some(error) = events.iter().find_map(|event| event.as_ref().err()) {
        return Err(error.to_string());
    }
    let config = RenderConfig { display_mode: DisplayMode::Block, ..RenderConfig::default() };
    let mut html = String::new();
    push_mathml(&mut html, events.into_iter(), config).map_err(|error| error.to_string())?;
    Ok(html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_mathml_and_unknown_commands_are_errors() {
        let html = mathml(r"\mathbb{E}\|\theta_t - \theta_\ast\|_2^2 \le \frac{1}{1-\alpha}").unwrap();
        assert!(html.starts_with("<math") && html.contains("mfrac"), "{html}");
        assert!(mathml(r"\nosuchcommand{x}").is_err());
    }

    #[test]
    fn every_registered_formula_converts() {
        for claim in crate::papers::all() {
            assert!(mathml(claim.formula).is_ok(), "{}: {:?}", claim.id, mathml(claim.formula).err());
        }
    }
}
