//! Checks of stored states that several learners share.

use lao_observation::stored::Damaged;

/// Returns whether a list is a set of attributes: ascending and below `dim`.
pub(crate) fn is_set(list: &[u32], dim: usize) -> bool {
    list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|&j| (j as usize) < dim)
}

/// Sets `into` to the attributes of `list` below `dim`, sorted, each once.
pub(crate) fn set_of(list: &[u32], dim: usize, into: &mut Vec<u32>) {
    into.clear();
    into.extend(list.iter().copied().filter(|&j| (j as usize) < dim));
    into.sort_unstable();
    into.dedup();
}

/// Returns whether `list` is the union of the sets `a` and `b`, ascending.
pub(crate) fn is_union(list: &[u32], a: &[u32], b: &[u32]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut next = || match (a.peek(), b.peek()) {
        (Some(&&i), Some(&&j)) => {
            let least = i.min(j);
            a.next_if_eq(&&least);
            b.next_if_eq(&&least);
            Some(least)
        }
        _ => a.next().or_else(|| b.next()).copied(),
    };
    list.iter().all(|&j| next() == Some(j)) && next().is_none()
}

/// Refuses a counter that no run can have reached, and that could overflow.
pub(crate) fn count(what: &'static str, part: &str, number: u64) -> Result<(), Damaged> {
    Damaged::unless(number < 1 << 62, what, || format!("{part} is {number}; no run counts to 2^62"))
}

/// Refuses a list whose number of entries is not `wanted`.
pub(crate) fn length(what: &'static str, part: &str, found: usize, wanted: usize) -> Result<(), Damaged> {
    Damaged::unless(found == wanted, what, || format!("{part} has {found} entries instead of {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_told_from_its_neighbors() {
        assert!(
            is_union(&[1, 2, 5], &[1, 5], &[2, 5]) && is_union(&[], &[], &[]) && is_union(&[3], &[], &[3])
        );
        for other in [&[1, 2][..], &[1, 2, 5, 6], &[1, 5, 2], &[1, 2, 4], &[]] {
            assert!(!is_union(other, &[1, 5], &[2, 5]), "{other:?}");
        }
    }
}
