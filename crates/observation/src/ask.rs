//! What a learner asks for.

use lao_kernels::{SparseVector, SparseView};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Nothing,
    Values,
    Gradient,
}

/// A learner's request for its next observations. The session owns one ask and reuses it, so that nothing is
/// allocated after warm-up.
#[derive(Clone, Debug)]
pub struct Ask {
    kind: Kind,
    attributes: Vec<u32>,
    theta: SparseVector,
    examples: u64,
}

/// The content of a filled [`Ask`].
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// The learner is finished, and asks for nothing more.
    Nothing,
    /// Values of these attributes of the next `examples` examples, told as blocks with labels.
    Values {
        /// The attributes, below the dimension, in any order. An attribute that is named twice is observed
        /// once, and told twice.
        attributes: &'a [u32],
        /// The number of examples.
        examples: u64,
    },
    /// The sum over the next `examples` examples of `2 (theta' x - y) x_j` for j in `attributes`, told as
    /// numbers. It observes `supp(theta)` and `attributes`.
    Gradient {
        /// The point at which the gradient is taken.
        theta: SparseView<'a>,
        /// The coordinates of the gradient: sorted, distinct, below the dimension.
        attributes: &'a [u32],
        /// The number of examples.
        examples: u64,
    },
}

impl Ask {
    /// Returns an empty ask over `dim` attributes.
    pub fn new(dim: usize) -> Self {
        Ask { kind: Kind::Nothing, attributes: Vec::new(), theta: SparseVector::zeros(dim), examples: 0 }
    }

    /// Asks for nothing: the learner is finished.
    pub fn nothing(&mut self) {
        self.kind = Kind::Nothing;
    }

    /// Asks for attribute values of the next `examples` examples. The caller fills the returned (empty) list
    /// with the attributes, in any order. Every kind of source serves sorted and distinct attributes
    /// directly; other lists, such as draws with replacement, only sources in memory do.
    pub fn values(&mut self, examples: u64) -> &mut Vec<u32> {
        self.kind = Kind::Values;
        self.examples = examples;
        self.attributes.clear();
        &mut self.attributes
    }

    /// Asks for the gradient sum at `theta` on `attributes` (sorted, distinct) over the next `examples`
    /// examples.
    pub fn gradient(
        &mut self,
        theta: SparseView<'_>,
        attributes: impl IntoIterator<Item = u32>,
        examples: u64,
    ) {
        self.kind = Kind::Gradient;
        self.examples = examples;
        self.theta.copy_from(theta);
        self.attributes.clear();
        self.attributes.extend(attributes);
    }

    /// Returns the content of the ask.
    pub fn request(&self) -> Request<'_> {
        let (attributes, examples) = (&self.attributes[..], self.examples);
        match self.kind {
            Kind::Nothing => Request::Nothing,
            Kind::Values => Request::Values { attributes, examples },
            Kind::Gradient => Request::Gradient { theta: self.theta.view(), attributes, examples },
        }
    }
}
