//! Decimal text to f64, with the bits of `str::parse::<f64>`.
//!
//! *Source*: W. D. Clinger, "How to read floating point numbers accurately" (1990): an integer below 2^53 and a power of
//! ten up to 10^22 are exact in f64, so their product or quotient is rounded once, which is correct rounding. All other
//! text goes to the standard library.

const MOST_DIGITS: usize = 19;
const MANTISSA_LIMIT: u64 = 1 << 53;
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The value of a whole token, or `None` where `str::parse::<f64>` gives an error.
pub(crate) fn parse(token: &[u8]) -> Option<f64> {
    match parse_prefix(token) {
        Some((value, length)) if length == token.len() => Some(value),
        _ => std::str::from_utf8(token).ok()?.parse().ok(),
    }
}

/// Value and length of the longest simple decimal at the start of `text`; `None` where the fast path does not apply.
/// The caller checks what follows.
#[inline]
pub(crate) fn parse_prefix(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, mut at) = sign(text);
    let mut mantissa = 0u64;
    let start = at;
    at = digits(text, at, &mut mantissa);
    let mut count = at - start;
    let mut exponent = 0i64;
    if text.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(text, fraction, &mut mantissa);
        count += at - fraction;
        exponent = -((at - fraction) as i64);
    }
    // Up to 19 digits the mantissa has not wrapped around.
    if count == 0 || count > MOST_DIGITS || mantissa > MANTISSA_LIMIT {
        return None;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let (down, first) = sign(&text[at + 1..]);
        let from = at + 1 + first;
        let mut written = 0u64;
        at = digits(text, from, &mut written);
        if at == from || at - from > 4 {
            return None;
        }
        exponent += if down { -(written as i64) } else { written as i64 };
    }
    let power = *POWERS_OF_TEN.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    let magnitude = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some((if negative { -magnitude } else { magnitude }, at))
}

#[inline]
fn sign(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

/// Appends the decimal digits from `at` on to `number` (wrapping) and returns where they end.
#[inline]
fn digits(text: &[u8], mut at: usize, number: &mut u64) -> usize {
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_prefix};
    use proptest::prelude::*;

    fn std_parse(token: &[u8]) -> Option<u64> {
        std::str::from_utf8(token).ok()?.parse::<f64>().ok().map(f64::to_bits)
    }

    fn bits(token: &[u8]) -> Option<u64> {
        parse(token).map(f64::to_bits)
    }

    #[test]
    fn corner_cases_have_the_bits_of_std() {
        for token in [
            "",
            "+",
            "-",
            ".",
            "-.",
            "e5",
            "1e",
            "1e+",
            "1.",
            ".5",
            "-0",
            "+0",
            "-0.0e5",
            "0x10",
            "1_0",
            "inf",
            "-nan",
            "1e400",
            "1e-400",
            "9007199254740992",
            "9007199254740993",
            "9007199254740991e22",
            "1e22",
            "1e23",
            "1e-22",
            "123456789012345678901234567890",
            "0.00000000000000000000000000001",
            "4.9e-324",
            "2.2250738585072014e-308",
            "1 ",
            " 1",
            "--1",
            "1e00000000000000000001",
            "18446744073709551616",
        ] {
            assert_eq!(bits(token.as_bytes()), std_parse(token.as_bytes()), "{token:?}");
        }
    }

    #[test]
    fn a_prefix_ends_at_the_first_byte_that_is_not_part_of_it() {
        assert_eq!(parse_prefix(b"2.5 7:1"), Some((2.5, 3)));
        assert_eq!(parse_prefix(b"12:1"), Some((12.0, 2)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_double_printed_is_read_back(bits_in in any::<u64>()) {
            let value = f64::from_bits(bits_in);
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:.6}")] {
                prop_assert_eq!(bits(text.as_bytes()), std_parse(text.as_bytes()));
            }
        }

        #[test]
        fn decimal_text_has_the_bits_of_std(text in "[+-]?[0-9]{0,20}(\\.[0-9]{0,12})?([eE][+-]?[0-9]{0,3})?") {
            prop_assert_eq!(bits(text.as_bytes()), std_parse(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_judged_as_std_judges_them(token in proptest::collection::vec(any::<u8>(), 0..12)) {
            prop_assert_eq!(bits(&token), std_parse(&token));
        }
    }
}
