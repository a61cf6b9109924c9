//! Numbers formatted for people.

/// Returns a number with four significant digits and without trailing zeros, and with a power of ten outside
/// `[1e-3, 1e5)`.
pub fn number(x: f64) -> String {
    if x.is_nan() {
        return "not a number".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "−∞" }.into();
    }
    if x == 0.0 {
        return "0".into();
    }
    if x == x.trunc() && x.abs() < 1e6 {
        return minus(format!("{x:.0}"));
    }
    // Rounding may increase the power of ten, so the exponent is read after rounding.
    let scientific = format!("{x:.3e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-3..5).contains(&exponent) {
        minus(trim(&format!("{x:.*}", (3 - exponent).max(0) as usize)).into())
    } else {
        minus(format!("{}e{exponent}", trim(mantissa)))
    }
}

/// Returns a p-value with two significant digits; a value that is too small for a double is reported as such.
pub fn p_value(p: f64) -> String {
    if p.is_nan() {
        return "not a number".into();
    }
    if p < 1e-300 {
        return "<1e-300".into();
    }
    if p >= 1e-3 { trim(&format!("{p:.3}")).into() } else { format!("{p:.1e}") }
}

/// Returns a duration such as `12 ms`, `3.4 s` or `2 min 5 s`.
pub fn seconds(s: f64) -> String {
    if s < 0.9995 {
        format!("{:.0} ms", s * 1e3)
    } else if s < 60.0 {
        format!("{s:.1} s")
    } else {
        format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0)
    }
}

/// Returns a count with thin spaces between groups of three.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Returns the text with a true minus sign in front; exponents, which are often copied, keep their hyphen.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_no_trailing_zeros() {
        let pairs = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.123_456, "0.1235"),
            (0.099_999_9, "0.1"),
            (12345.678, "12346"),
            (1e-5, "1e-5"),
            (-3.250e-7, "−3.25e-7"),
            (6.022e23, "6.022e23"),
            (65536.0, "65536"),
            (f64::INFINITY, "∞"),
        ];
        for (x, text) in pairs {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn p_values_below_the_range_of_doubles_say_so() {
        assert_eq!(p_value(0.0), "<1e-300");
        assert_eq!(p_value(2.34e-9), "2.3e-9");
        assert_eq!(p_value(0.5), "0.5");
        assert_eq!(p_value(1.0), "1");
    }

    #[test]
    fn counts_are_grouped_and_times_scaled() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(1234), "1234");
        assert_eq!(seconds(0.0123), "12 ms");
        assert_eq!(seconds(125.0), "2 min 5 s");
    }
}
