//! The blocks in which attributes are explored where they have prices.

use crate::money::Money;
use lao_observation::Basket;
use serde::{Deserialize, Serialize};

/// All attributes in blocks. A block is observed beside a support. It has at most `width` attributes and,
/// with the support, costs at most the money for an example; a panel of the support is not paid again.
///
/// Panels are ordered by price, the highest first, and among equal prices by their first attribute. A block
/// takes attributes from the front of this order, as long as the money pays, and then from its end. So the
/// rest of the money, which pays no other expensive panel, pays cheap ones. A block ends when it is full, or
/// when the money pays neither the first nor the last attribute that is left. Packing takes time in
/// proportion to the attributes. Where all prices are equal, blocks are ranges of `width` attributes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub(crate) struct Blocks {
    money: Money,
    width: usize,
    support: Vec<u32>,
    /// The attributes, panel by panel.
    order: Vec<u32>,
    /// The attributes, block after block; those of a block ascend.
    attributes: Vec<u32>,
    /// The end of each block in `attributes`.
    ends: Vec<usize>,
    basket: Basket,
}

/// What blocks follow from.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    money: Money,
    width: usize,
    support: Vec<u32>,
}

impl From<Stored> for Blocks {
    fn from(Stored { money, width, support }: Stored) -> Blocks {
        Blocks::new(money, width, &support)
    }
}

impl From<Blocks> for Stored {
    fn from(Blocks { money, width, support, .. }: Blocks) -> Stored {
        Stored { money, width, support }
    }
}

impl Blocks {
    /// Returns the blocks of at most `width` attributes beside a support. The money must pay the support and
    /// any other attribute, as [`Money::check_supports`] ensures.
    pub fn new(money: Money, width: usize, support: &[u32]) -> Self {
        let order = money.panels().iter().flat_map(|&panel| money.tariff.members(panel)).copied().collect();
        let mut blocks = Blocks {
            money,
            width,
            support: Vec::new(),
            order,
            attributes: Vec::new(),
            ends: Vec::new(),
            basket: Basket::default(),
        };
        blocks.pack(support);
        blocks
    }

    /// Packs the attributes again, unless the support is the one that they are packed beside.
    pub fn pack(&mut self, support: &[u32]) {
        if !self.ends.is_empty() && self.support == support {
            return;
        }
        self.support.clear();
        self.support.extend_from_slice(support);
        let Blocks {
            money: Money { tariff, per_example, .. }, width, order, attributes, ends, basket, ..
        } = self;
        attributes.clear();
        ends.clear();
        let (mut front, mut back) = (0, order.len());
        while front < back {
            let begin = attributes.len();
            basket.empty();
            support.iter().for_each(|&j| basket.add(tariff, j));
            // The support and any other attribute are paid, so that no block is empty.
            basket.add(tariff, order[front]);
            attributes.push(order[front]);
            front += 1;
            let most = begin.saturating_add(*width);
            while front < back && attributes.len() < most && basket.buy(tariff, order[front], *per_example) {
                attributes.push(order[front]);
                front += 1;
            }
            while front < back && attributes.len() < most && basket.buy(tariff, order[back - 1], *per_example)
            {
                back -= 1;
                attributes.push(order[back]);
            }
            attributes[begin..].sort_unstable();
            ends.push(attributes.len());
        }
    }

    /// Returns the money that pays the blocks.
    pub fn money(&self) -> &Money {
        &self.money
    }

    /// Returns whether the blocks have this width and are packed beside this support.
    pub fn fit(&self, width: usize, support: &[u32]) -> bool {
        (self.width, &self.support[..]) == (width, support)
    }

    /// Returns the attributes, block after block. A *place* is an index of this list.
    pub fn attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the attributes of block `at`, ascending; none if there is no such block.
    pub fn block(&self, at: usize) -> &[u32] {
        let from = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        match (from, self.ends.get(at)) {
            (Some(from), Some(&to)) => &self.attributes[from..to],
            _ => &[],
        }
    }

    /// Returns the number of blocks from the one that contains `place`.
    pub fn left(&self, place: usize) -> usize {
        self.ends.len() - self.ends.partition_point(|&end| end <= place)
    }

    /// Returns the end of the block that contains `place`.
    pub fn end(&self, place: usize) -> usize {
        let at = self.ends.partition_point(|&end| end <= place);
        self.ends.get(at).copied().unwrap_or(self.attributes.len())
    }

    /// Returns whether a block begins at `place`.
    pub fn begin_at(&self, place: usize) -> bool {
        place == 0 || self.ends.binary_search(&place).is_ok()
    }
}
