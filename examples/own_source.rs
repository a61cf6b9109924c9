//! A source of one's own: data that lie elsewhere, where each look at an attribute costs something.
//!
//! ```sh
//! cargo run -p lao-examples --bin own_source
//! ```

use lao_algorithms::{Task, murata_suzuki::HybridParams};
use lao_observation::testing::check_source;
use lao_observation::{BlockBuf, Budget, Learner as _, Seed, Session, SessionLimit, Source, SourceError};
use rand::RngExt as _;

const DIM: usize = 40;

/// A service that sells attributes of customers, one look-up per attribute.
#[derive(Clone, Debug, Default)]
struct Lookup {
    /// The next customer.
    customer: u64,
    /// Look-ups that were paid.
    paid: u64,
}

impl Lookup {
    /// Buys one attribute of a customer. A real service would be asked here.
    fn buy(&mut self, customer: u64, attribute: u32) -> f64 {
        self.paid += 1;
        Self::value(customer, attribute)
    }

    fn value(customer: u64, attribute: u32) -> f64 {
        Seed::root(5).trial(customer).trial(attribute.into()).rng().random_range(-1.7..1.7)
    }

    /// What the customer spent: known without a look-up.
    fn label(customer: u64) -> f64 {
        3.0 * Self::value(customer, 7) - 2.0 * Self::value(customer, 31)
    }
}

impl Source for Lookup {
    fn dim(&self) -> usize {
        DIM
    }

    /// Fills a block with the attributes asked for, of as many customers as there is room for.
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.capacity();
        for row in 0..rows {
            for (column, &attribute) in attributes.iter().enumerate() {
                block.column_mut(column)[row] = self.buy(self.customer, attribute);
            }
            block.labels_mut()[row] = Self::label(self.customer);
            self.customer += 1;
        }
        block.set_rows(rows);
        Ok(rows)
    }

    fn position(&self) -> u64 {
        self.customer
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.customer = position;
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    // One line tests the contract of a source; put it into a test of yours.
    check_source(Lookup::default)?;

    let task = Task { dim: DIM, sparsity: 3, budget: 8, ..Task::default() };
    let mut learner = HybridParams::practical(&task)?.build()?;
    let mut session = Session::new(Lookup::default(), Budget::PerExample(8), &Seed::root(1));
    session.run(&mut learner, SessionLimit::after_examples(20_000), |_, _| {})?;
    for (attribute, weight) in learner.coefficients().iter() {
        println!("attribute {attribute}: {weight:+.3}");
    }
    println!("{} look-ups for {} customers", session.source().paid, session.ledger().examples);
    Ok(())
}
