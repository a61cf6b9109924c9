//! Decimal text to f64, with the bits of `str::parse::<f64>`.
//!
//! *Source*: W. D. Clinger, "How to read floating point numbers accurately" (1990): an integer below 2^53 and
//! a power of ten up to 10^22 are exact in f64, so their product or quotient is rounded once, which is
//! correct rounding. All other text goes to the standard library.

const MOST_DIGITS: usize = 19;
/// The longest token of which the integer is mostly below 2^53: a sign, a point and 16 digits.
const SHORT: usize = 18;
const MANTISSA_LIMIT: u64 = 1 << 53;
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Returns the value of a whole token, or `None` where `str::parse::<f64>` gives an error.
///
/// ```
/// use lao_datasets::format::parse_number;
///
/// assert_eq!((parse_number(b"-1.5e3"), parse_number(b"1.5 mg")), (Some(-1500.0), None));
/// ```
pub fn parse(token: &[u8]) -> Option<f64> {
    if token.len() > SHORT {
        return parse_std(token);
    }
    match scan(token) {
        (Some(value), length) if length == token.len() => Some(value),
        _ => parse_std(token),
    }
}

/// Returns the value as the standard library reads it.
pub(crate) fn parse_std(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Value and length of the longest simple decimal at the start of `text`. No value means that the standard
/// library must be asked. The caller checks what follows.
///
/// ```
/// use lao_datasets::format::scan_number;
///
/// assert_eq!(scan_number(b"1.5;2"), (Some(1.5), 3));
/// ```
#[inline]
pub fn scan(text: &[u8]) -> (Option<f64>, usize) {
    let (negative, start) = sign(text);
    let mut mantissa = 0u64;
    let mut at = digits(text, start, &mut mantissa);
    let mut count = at - start;
    let mut exponent = 0i64;
    if text.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(text, fraction, &mut mantissa);
        count += at - fraction;
        exponent = -((at - fraction) as i64);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let (down, first) = sign(&text[at + 1..]);
        let from = at + 1 + first;
        let mut written = 0u64;
        at = digits(text, from, &mut written);
        if at == from || at - from > 4 {
            return (None, at);
        }
        exponent += if down { -(written as i64) } else { written as i64 };
    }
    // Up to 19 digits the mantissa has not wrapped around.
    let exact = count > 0 && count <= MOST_DIGITS && mantissa <= MANTISSA_LIMIT;
    let power = POWERS_OF_TEN.get(usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX));
    let value = power.filter(|_| exact).map(|power| {
        let magnitude = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
        if negative { -magnitude } else { magnitude }
    });
    (value, at)
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
    while let Some(eight) = text.get(at..).and_then(eight_digits) {
        *number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// Returns the number that the first eight bytes spell, if all are digits: neighbors are joined to pairs,
/// pairs to fours, and fours to eight, all at once in one word.
#[inline]
fn eight_digits(text: &[u8]) -> Option<u64> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let word = u64::from_le_bytes(*text.first_chunk()?) ^ 0x3030_3030_3030_3030;
    // A byte above 9 reaches the high bit by adding 0x76, or has it already.
    if (word.wrapping_add(0x7676_7676_7676_7676) | word) & HIGH != 0 {
        return None;
    }
    let pairs = word * 10 + (word >> 8);
    let fours = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let others = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    Some(fours.wrapping_add(others) >> 32)
}

#[cfg(test)]
mod tests {
    use super::{parse, scan};
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
        assert_eq!(scan(b"2.5 7:1"), (Some(2.5), 3));
        assert_eq!(scan(b"12:1"), (Some(12.0), 2));
        assert_eq!(scan(b"0.12345678901234567 1"), (None, 19));
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
        fn decimal_text_has_the_bits_of_std(
            text in "[+-]?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{0,3})?",
        ) {
            prop_assert_eq!(bits(text.as_bytes()), std_parse(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_judged_as_std_judges_them(token in proptest::collection::vec(any::<u8>(), 0..12)) {
            prop_assert_eq!(bits(&token), std_parse(&token));
        }
    }
}
