use super::uniforms;
use crate::judge::calibration;
use crate::judge::rare::events;

#[test]
fn at_a_level_that_can_be_counted_both_ways_agree() {
    let (mut uniform, alpha) = (uniforms(11), 0.01);
    let counted = calibration::battery(10, &mut uniform);
    let mut compared = 0;
    for event in events() {
        let Some(counted) = counted.iter().find(|counted| counted.name == event.name) else { continue };
        let found = (event.measure)(alpha, 1500, &mut uniform);
        let p = counted.frequency();
        let se = (found.probability.max(1e-3) / counted.runs as f64).sqrt().hypot(found.se);
        assert!((p - found.probability).abs() <= 4.0 * se, "{}: {p} and {found:?}", event.name);
        compared += 1;
    }
    assert!(compared >= 25, "{compared}");
}
