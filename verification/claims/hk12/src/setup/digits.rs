//! Images for Figures 1 and 2: MNIST, "3" against "5", or a surrogate of the same shape.
//!
//! *Surrogate.* 28 x 28 pixels. Either class has a template, the sum of six Gaussian blobs of standard
//! deviation 2 pixels, four of which they share. An image is its class's template, shifted by one pixel up or
//! down and one left or right, times a contrast uniform on [0.7, 1], plus normal noise of standard deviation
//! 0.1 per pixel, cut to [0, 1]. Classes are equally frequent. Every pixel is a pure function of seed, image
//! and pixel, so only what is looked at is computed.
//!
//! *Scale.* Pixels lie in [0, 1], so `|x|_inf <= 1`, as AELR's theorem wants; `|x|_2` reaches about 15, so
//! AERR's does not apply to them as they are. Dividing pixels by c is the same as multiplying radius by c and
//! step size by c^2, both of which are tuned.

use anyhow::Context as _;
use lao_datasets::catalog::{Catalog, CatalogError};
use lao_datasets::preprocess::two_classes;
use lao_datasets::synthetic::Words;
use lao_kernels::{SparseView, axpy_column};
use lao_observation::{BlockBuf, Cursor, Scratch, Seed, Source, SourceError};
use lao_verification_engine::instance::GivenExamples;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// Pixels along an edge.
const EDGE: usize = 28;
/// Pixels.
pub(crate) const PIXELS: usize = EDGE * EDGE;
/// Images for training, 90 percent of 13,454.
pub(crate) const TRAIN: u64 = 12_109;
/// Images of the surrogate for testing: both methods are tested on the same ones, and every split has others.
const TEST: usize = 256;

/// Where images come from.
pub(crate) enum Images {
    /// Templates by class and shift.
    Surrogate(Arc<Vec<Vec<f64>>>),
    /// Pixels between 0 and 1, labels -1 and 1.
    Given(GivenExamples),
}

/// Training images as streams, and test images.
pub(crate) struct Split {
    train: Box<dyn Fn() -> Box<dyn Source>>,
    /// The test images with all their pixels.
    pub(crate) test: BlockBuf,
}

impl Images {
    /// The surrogate with templates drawn from `seed`.
    pub(crate) fn surrogate(seed: &Seed) -> Images {
        let mut rng = seed.rng();
        let mut blobs = |count| -> Vec<[f64; 2]> {
            (0..count).map(|_| [(); 2].map(|()| rng.random_range(6.0..22.0))).collect()
        };
        let shared = blobs(4);
        let classes = [(); 2].map(|()| [shared.clone(), blobs(2)].concat());
        let pixel = |class: &[[f64; 2]], at: [f64; 2]| {
            let square = |blob: &[f64; 2]| (blob[0] - at[0]).powi(2) + (blob[1] - at[1]).powi(2);
            class.iter().map(|blob| (-square(blob) / 8.0).exp()).sum::<f64>()
        };
        let mut templates = Vec::new();
        for class in &classes {
            for [up, left] in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]] {
                let at = |j: usize| [(j / EDGE) as f64 + up, (j % EDGE) as f64 + left];
                templates.push((0..PIXELS).map(|j| pixel(class, at(j))).collect());
            }
        }
        Images::Surrogate(Arc::new(templates))
    }

    /// MNIST, all images of "3" and "5", if it is at hand.
    pub(crate) fn mnist() -> anyhow::Result<Result<Images, String>> {
        let loaded = match Catalog::from_env()?.load("mnist") {
            Err(reason @ CatalogError::Missing { .. }) => return Ok(Err(reason.to_string())),
            loaded => loaded?,
        };
        let (mut images, mut pixels) = (GivenExamples::new(PIXELS), vec![0.0; PIXELS]);
        for rows in [Some(&loaded.train), loaded.test.as_ref()].into_iter().flatten() {
            let rows = two_classes(rows, 5.0, 3.0)?;
            let table = rows.dense().context("the table is not dense")?;
            anyhow::ensure!(table.columns() == PIXELS, "an image has {} pixels", table.columns());
            for (row, label) in table.labels.iter().enumerate() {
                pixels.iter_mut().enumerate().for_each(|(j, x)| *x = table.column(j)[row] / 255.0);
                images.push(&pixels, *label);
            }
        }
        Ok(Ok(Images::Given(images)))
    }

    /// Fresh images of the surrogate, or a random split of the given ones.
    pub(crate) fn split(&self, seed: &Seed) -> anyhow::Result<Split> {
        let mut test = BlockBuf::new();
        let all: Vec<u32> = (0..PIXELS as u32).collect();
        let train: Box<dyn Fn() -> Box<dyn Source>> = match self {
            Images::Surrogate(templates) => {
                test.reset(PIXELS, TEST);
                Blobs::new(templates, &seed.child("test"), TEST as u64).observe(&all, &mut test)?;
                let train = Blobs::new(templates, &seed.child("train"), TRAIN);
                Box::new(move || Box::new(train.clone()))
            }
            Images::Given(images) => {
                let mut order: Vec<usize> = (0..images.len()).collect();
                order.shuffle(&mut seed.child("split").rng());
                let (train, rest) = order.split_at((TRAIN as usize).min(order.len()));
                test.reset(PIXELS, rest.len());
                images.in_order(rest.to_vec()).observe(&all, &mut test)?;
                let train = images.in_order(train.to_vec());
                Box::new(move || Box::new(train.clone()))
            }
        };
        Ok(Split { train, test })
    }
}

impl Split {
    /// The training images, from the first.
    pub(crate) fn train(&self) -> Box<dyn Source> {
        (self.train)()
    }

    /// The first `count` training images with all their pixels.
    pub(crate) fn all_pixels(&self, count: usize) -> anyhow::Result<BlockBuf> {
        let mut block = BlockBuf::new();
        block.reset(PIXELS, count);
        let all: Vec<u32> = (0..PIXELS as u32).collect();
        self.train().observe(&all, &mut block)?;
        Ok(block)
    }

    /// Mean squared error on the test images; 1 for the zero predictor.
    pub(crate) fn error(&self, w: SparseView<'_>) -> f64 {
        let all: Vec<u32> = (0..PIXELS as u32).collect();
        let test = self.test.view(&all);
        let mut residual: Vec<f64> = test.labels().iter().map(|y| -y).collect();
        for (j, weight) in w.iter() {
            axpy_column(&mut residual, test.column(j as usize), weight);
        }
        residual.iter().map(|r| r * r).sum::<f64>() / residual.len() as f64
    }
}

/// The stream of the surrogate's images.
#[derive(Clone)]
struct Blobs {
    templates: Arc<Vec<Vec<f64>>>,
    words: Words,
    cursor: Cursor,
}

impl Blobs {
    fn new(templates: &Arc<Vec<Vec<f64>>>, seed: &Seed, length: u64) -> Blobs {
        Blobs { templates: templates.clone(), words: Words::new(seed), cursor: Cursor::new(length) }
    }
}

impl Source for Blobs {
    lao_verification_engine::hand_on!(cursor: position seek);

    fn dim(&self) -> usize {
        PIXELS
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.cursor.upcoming(block.capacity());
        let images = self.words.stream(1, 0);
        for row in 0..rows {
            let image = self.cursor.position() + row as u64;
            let mut draws = images.draws(image);
            let which = draws.random_range(0..self.templates.len());
            let contrast = draws.random_range(0.7..1.0);
            block.labels_mut()[row] = if which < 4 { -1.0 } else { 1.0 };
            for (c, &j) in attributes.iter().enumerate() {
                let noise: f64 = StandardNormal.sample(&mut self.words.stream(0, j).draws(image));
                let value = contrast * self.templates[which][j as usize] + 0.1 * noise;
                block.column_mut(c)[row] = value.clamp(0.0, 1.0);
            }
        }
        block.set_rows(rows);
        self.cursor.advance(rows);
        Ok(rows)
    }

    // A value is computed where it is asked for, so draws need not be sorted first.
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.observe(draws, block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_of_the_surrogate_does_not_depend_on_what_else_is_observed() {
        let split = Images::surrogate(&Seed::root(1)).split(&Seed::root(2)).unwrap();
        let all = split.all_pixels(3).unwrap();
        let names: Vec<u32> = (0..PIXELS as u32).collect();
        let (mut one, mut source) = (BlockBuf::new(), split.train());
        for row in 0..3 {
            one.reset(2, 1);
            source.observe(&[300, 405], &mut one).unwrap();
            let (one, all) = (one.view(&[300, 405]), all.view(&names));
            assert_eq!((one.column(1)[0], one.labels()[0]), (all.column(405)[row], all.labels()[row]));
            assert!((0.0..=1.0).contains(&one.column(0)[0]));
        }
    }
}
