//! Expectations over an epoch of production code, by enumeration of everything that it could draw.

use lao_verification_engine::instance::{
    SmallSum, batches, dot, epoch, mean, minus, norm2, norm2_on, support_of,
};

/// Means over the randomness of an epoch; index t is the step.
#[derive(Clone, Debug)]
pub(crate) struct Averages {
    /// `E|x_t - x*|^2`, t = 0, .., T.
    pub distance: Vec<f64>,
    /// `E|pi_I v_t|^2`, the direction of step t + 1, on the supports of x*, x_t and x_{t+1}; t = 0, .., T-1.
    pub direction: Vec<f64>,
    /// `E<grad f(x_t), x_t - x*>`, t = 0, .., T.
    pub descent: Vec<f64>,
    /// `E<e, x_t - x*>`, t = 0, .., T.
    pub cross: Vec<f64>,
    /// `E|e|^2`.
    pub error: f64,
}

impl Averages {
    /// Of no path, for epochs of so many steps.
    pub(crate) fn new(steps: usize) -> Self {
        let zeros = vec![0.0; steps + 1];
        let (distance, descent, cross) = (zeros.clone(), zeros.clone(), zeros.clone());
        Averages { distance, direction: vec![0.0; steps], descent, cross, error: 0.0 }
    }

    /// Adds one path with its probability.
    pub(crate) fn add(
        &mut self,
        small: &SmallSum,
        star: &[f64],
        batch: &[u32],
        minis: &[&[u32]],
        path: &[Vec<f64>],
        weight: f64,
    ) {
        let snapshot = &path[0];
        let mu = small.batch_gradient(batch, snapshot);
        let e = minus(&mu, &small.gradient(snapshot));
        self.error += weight * norm2(&e);
        for (t, x) in path.iter().enumerate() {
            let away = minus(x, star);
            self.distance[t] += weight * norm2(&away);
            self.descent[t] += weight * dot(&small.gradient(x), &away);
            self.cross[t] += weight * dot(&e, &away);
            let (Some(next), Some(mini)) = (path.get(t + 1), minis.get(t)) else { continue };
            let (here, there) = (small.batch_gradient(mini, x), small.batch_gradient(mini, snapshot));
            let v: Vec<f64> = (0..x.len()).map(|j| here[j] - there[j] + mu[j]).collect();
            self.direction[t] += weight * norm2_on(&v, support_of(star) | support_of(x) | support_of(next));
        }
    }
}

impl Averages {
    /// Adds one path for components `(1/2) |x - c_z|^2`, given the mean of the centers in the batch and of
    /// all: mini-batches cancel from v.
    fn add_around(&mut self, (batch, whole): (&[f64], &[f64]), star: &[f64], path: &[Vec<f64>], weight: f64) {
        let e = minus(whole, batch);
        self.error += weight * norm2(&e);
        for (t, x) in path.iter().enumerate() {
            let (away, v) = (minus(x, star), minus(x, batch));
            self.distance[t] += weight * norm2(&away);
            self.descent[t] += weight * dot(&minus(x, whole), &away);
            self.cross[t] += weight * dot(&e, &away);
            if let Some(next) = path.get(t + 1) {
                let set = support_of(star) | support_of(x) | support_of(next);
                self.direction[t] += weight * norm2_on(&v, set);
            }
        }
    }
}

/// The averages over all batches of `size` and all sequences of single components, for `steps` steps from
/// `start`.
pub(crate) fn averages(
    small: &SmallSum,
    (start, star): (&[f64], &[f64]),
    (sparsity, step_size): (usize, f64),
    size: usize,
    steps: usize,
) -> anyhow::Result<Averages> {
    let (n, mut sum, mut all) = (small.len(), small.production()?, Averages::new(steps));
    let (batches, singles) = (batches(n, size), batches(n, 1));
    let sequences = n.pow(steps as u32);
    let weight = 1.0 / (batches.len() * sequences) as f64;
    for batch in &batches {
        for mut code in 0..sequences {
            let mut minis: Vec<&[u32]> = Vec::with_capacity(steps);
            for _ in 0..steps {
                minis.push(&singles[code % n]);
                code /= n;
            }
            let path = epoch(&mut sum, start, (sparsity, step_size), batch, &minis)?;
            all.add(small, star, batch, &minis, &path, weight);
        }
    }
    Ok(all)
}

/// The averages for components `(1/2) |x - c_z|^2`, over all batches: mini-batches cancel from v, so any
/// sequence of them will do.
pub(crate) fn averages_around(
    centers: &[Vec<f64>],
    (start, star): (&[f64], &[f64]),
    (sparsity, step_size): (usize, f64),
    (size, mini): (usize, usize),
    steps: usize,
) -> anyhow::Result<Averages> {
    let small = SmallSum::around(centers);
    let (n, mut sum, mut all) = (small.len(), small.production()?, Averages::new(steps));
    let (batches, choices) = (batches(n, size), batches(n, mini));
    // With equal curvatures a gradient is x less the mean of the centers.
    let center = |batch: &[u32]| mean(start.len(), batch.iter().map(|&z| centers[z as usize].clone()));
    let whole = center(&(0..n as u32).collect::<Vec<u32>>());
    let minis: Vec<&[u32]> = choices.iter().cycle().take(steps).map(|mini| &mini[..]).collect();
    for batch in &batches {
        let path = epoch(&mut sum, start, (sparsity, step_size), batch, &minis)?;
        all.add_around((&center(batch), &whole), star, &path, 1.0 / batches.len() as f64);
    }
    Ok(all)
}
