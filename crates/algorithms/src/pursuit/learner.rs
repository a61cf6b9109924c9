//! From ask to update: what Pursuit does with a block of examples.

use super::decide::keep_largest;
use super::e_process::EProcesses;
use super::fit::Before;
use super::link::{Link, Predicted};
use super::moments::{Gap, Moments, Panel, groups, weight_of, weight_of_all};
use super::{
    BLOCKS_PER_DECISION, DECISIONS, Errors, LARGEST, LARGEST_BOUND, Pursuit, PursuitParams, Scratch,
    is_weight,
};
use crate::money::Money;
use lao_kernels::{SparseVector, SparseView, merge_into};
use lao_observation::tariff::pays;
use lao_observation::{Ask, Block, Foreseen, LearnError, Learner, Rng, Row, Told};
use rand::seq::SliceRandom as _;

impl Pursuit {
    /// Returns a learner that has seen nothing.
    pub(super) fn begin(params: PursuitParams) -> Pursuit {
        let (dim, always) = (params.dim, params.always.clone());
        let mut moments = Moments::new(dim, params.budget);
        always.iter().for_each(|&j| moments.watch(j));
        let mut before = Before::default();
        before.remember(&always, &moments);
        Pursuit {
            moments,
            pool: Vec::new(),
            added: Vec::new(),
            dropped: Vec::new(),
            before,
            errors: Errors::default(),
            e_processes: EProcesses::new(dim),
            z: vec![0.0; dim],
            interest: vec![f64::MAX; dim],
            explained: vec![0.0; dim],
            order: Vec::new(),
            asked: Vec::new(),
            looked: Vec::new(),
            blocks_left: 0,
            values: Vec::new(),
            gaps: Vec::new(),
            late: Vec::new(),
            labels: vec![0.0; params.block_size(0) as usize],
            weights: Vec::new(),
            is_weighted: false,
            filled: 0,
            theta: SparseVector::zeros(dim),
            intercept: 0.0,
            classes: true,
            link: Link::default(),
            variances: vec![0.0; always.len()],
            due: 0,
            done: 0,
            scratch: Scratch::default(),
            support: always,
            params,
        }
    }

    /// Returns the number of examples that the current block still needs.
    pub(super) fn examples_left(&self) -> usize {
        self.labels.len() - self.filled - self.late.len()
    }

    /// Chooses the attributes of the next block.
    fn choose(&mut self) {
        let Pursuit { params, support, pool, looked, scratch, .. } = self;
        scratch.taken.clear();
        scratch.taken.resize(params.dim, false);
        let not_to_choose = [&*support, &*pool, &params.never, &*looked].into_iter().flatten();
        not_to_choose.for_each(|&j| scratch.taken[j as usize] = true);
        if self.params.money.is_some() {
            self.choose_by_price();
        } else {
            self.choose_by_number();
        }
        let Pursuit { support, pool, asked, scratch: Scratch { columns, list, .. }, .. } = self;
        list.sort_unstable();
        merge_into(support, pool, columns);
        merge_into(columns, list, asked);
        self.values.clear();
        self.values.resize(groups(self.asked.len()) * self.labels.len(), [0.0; 4]);
        self.order_columns();
    }

    /// Chooses those of largest bound, as many as are left of the budget.
    fn choose_by_number(&mut self) {
        let free = self.params.budget - self.support.len() - self.pool.len();
        if self.choose_unseen(free) {
            return;
        }
        let Pursuit { interest, order, scratch, .. } = self;
        let Scratch { taken, ranked, bounds, list, .. } = scratch;
        // The bits of numbers that are not negative are in the order of the numbers.
        bounds.clear();
        bounds.extend(interest.iter().zip(&*taken).filter(|(_, taken)| !**taken).map(|(b, _)| b.to_bits()));
        let least = match bounds.len().checked_sub(free) {
            Some(rest) if free > 0 => *bounds.select_nth_unstable(rest).1,
            _ => 0,
        };
        ranked.clear();
        for (j, (interest, _)) in (0..).zip(interest.iter().zip(&*taken)).filter(|(_, (_, taken))| !**taken) {
            if free > 0 && interest.to_bits() >= least {
                ranked.push((*interest, order[j as usize], j));
            }
        }
        // There are more than enough only where bounds are equal.
        keep_largest(ranked, free);
        list.clear();
        list.extend(ranked.iter().map(|&(_, _, j)| j));
    }

    /// (5) Chooses the first attributes in the random order that were never observed, whose bound is the
    ///    largest number; returns whether there are enough of them.
    fn choose_unseen(&mut self, free: usize) -> bool {
        let Pursuit { params, moments, order, scratch, .. } = self;
        let Scratch { taken, list, by_order, unseen_from, .. } = scratch;
        if by_order.len() != params.dim {
            by_order.resize(params.dim, 0);
            (0..).zip(order).for_each(|(j, place)| by_order[*place as usize] = j);
            *unseen_from = 0;
        }
        let unseen = |j: &&u32| moments.untried(**j) && !taken[**j as usize];
        *unseen_from += by_order[*unseen_from..].iter().take_while(|j| !unseen(j)).count();
        list.clear();
        list.extend(by_order[*unseen_from..].iter().filter(unseen).take(free));
        list.len() == free
    }

    /// Chooses panels in the order of what their attributes may explain per money, as far as the rest of the
    /// money goes. What costs nothing more comes along: what is free, and the other attributes of panels that
    /// are bought.
    fn choose_by_price(&mut self) {
        let most = self.params.most_per_prediction();
        let Pursuit { params, support, pool, interest, order, scratch, .. } = self;
        let Some(money) = &params.money else { return };
        let Money { tariff, per_example, .. } = money;
        let Scratch { taken, ranked, list, basket, .. } = scratch;
        let of = |panel: u32| tariff.members(panel).iter().copied().filter(|&j| !taken[j as usize]);
        basket.empty();
        support.iter().chain(&*pool).for_each(|&j| basket.add(tariff, j));
        ranked.clear();
        for panel in tariff.panels() {
            // The root of the sum of squares, and the bound itself if there is one attribute.
            let (mut effect, mut first, mut price) = (0.0f64, u32::MAX, 0.0);
            for j in of(panel) {
                let bound = interest[j as usize].min(LARGEST_BOUND);
                effect = if first == u32::MAX { bound } else { (effect * effect + bound * bound).sqrt() };
                (first, price) = (first.min(order[j as usize]), basket.more(tariff, j));
            }
            // A panel that is too expensive for a predictor is not observed.
            if first < u32::MAX && pays(most, price) {
                ranked.push((money.per_money(effect, price), first, panel));
            }
        }
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut free = params.budget - support.len() - pool.len();
        list.clear();
        for at in 0..ranked.len() {
            let (_, _, panel) = ranked[at];
            let (chosen, fee) = (list.len(), tariff.fee(panel).filter(|&fee| !basket.has(fee)));
            if free > 0 && of(panel).any(|j| basket.buy(tariff, j, *per_example)) {
                list.extend(of(panel).take(free));
                if let Some(fee) = fee {
                    // What shares the fee costs less from now on.
                    let rest = &mut ranked[at + 1..];
                    for (worth, _, other) in rest.iter_mut().filter(|one| tariff.fee(one.2) == Some(fee)) {
                        let [without, with] = [tariff.prices()[*other as usize], tariff.price_alone(*other)];
                        *worth *= money.per_money(1.0, without) / money.per_money(1.0, with);
                    }
                    rest.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                }
            }
            free -= list.len() - chosen;
        }
    }

    /// (1) Gives each attribute of the block its column: first come those of the support, then the pool.
    fn order_columns(&mut self) {
        let Pursuit { support, pool, asked, scratch: Scratch { columns, places, .. }, .. } = self;
        columns.clear();
        columns.extend_from_slice(support);
        columns.extend_from_slice(pool);
        places.clear();
        let (mut of_support, mut of_pool) =
            ((0..).zip(&*support).peekable(), (support.len()..).zip(&*pool).peekable());
        for j in &*asked {
            let watched = of_support.next_if(|(_, k)| *k == j).or_else(|| of_pool.next_if(|(_, k)| *k == j));
            places.push(watched.map_or(columns.len(), |(place, _)| place));
            if watched.is_none() {
                columns.push(*j);
            }
        }
    }

    /// Learns from the block, which is full.
    pub(super) fn update(&mut self) {
        if let Some(half_life) = self.params.half_life {
            let kept = libm::exp2(-(self.labels.len() as f64) / half_life);
            self.moments.forget(kept);
            self.before.forget(kept);
            self.link.forget(kept);
        }
        if self.scratch.places.len() != self.asked.len() {
            self.order_columns();
        }
        if self.asks_e_processes() && !(self.gaps.is_empty() && self.late.is_empty()) {
            self.take_steps_one_by_one();
        }
        self.cut_block();
        if self.filled > 0 {
            self.take_in();
        }
        self.take_in_late();
        merge_into(&self.looked, &self.asked, &mut self.scratch.list);
        std::mem::swap(&mut self.looked, &mut self.scratch.list);
        self.done += 1;
        if self.blocks_left > 0 {
            self.blocks_left -= 1;
        } else {
            let explained = self.explained();
            self.decide();
            self.after_decision(explained);
            self.looked.clear();
            self.blocks_left = self.blocks_before_decision();
        }
        self.filled = 0;
        self.asked.clear();
        self.values.clear();
        self.gaps.clear();
        self.weights.clear();
        self.labels.clear();
        self.labels.resize(self.params.block_size(self.moments.examples) as usize, 0.0);
    }

    /// Returns the number of blocks after the next one that come before the next decision. No attribute that
    /// is not watched is looked at in two of them.
    fn blocks_before_decision(&self) -> u64 {
        let Pursuit { params, support, pool, .. } = self;
        let PursuitParams { dim, budget, page, never, money, half_life, .. } = params;
        if page.is_none_or(|page| page < 2) || money.is_some() || half_life.is_some() {
            return 0;
        }
        let watched = support.len() + pool.len();
        let (free, others) = (budget - watched, dim.saturating_sub(watched + never.len()));
        let once = others.checked_div(free).unwrap_or(usize::MAX) as u64;
        let examples = self.moments.examples;
        let since = examples.saturating_sub(self.before.examples) / params.block_size(examples);
        (since / DECISIONS).min(BLOCKS_PER_DECISION).min(once).saturating_sub(1)
    }

    /// Leaves of the block the rows that are filled: late examples take the place of others.
    fn cut_block(&mut self) {
        let (size, filled) = (self.labels.len(), self.filled);
        if filled < size {
            let groups = self.values.len() / size;
            for group in 0..groups {
                self.values.copy_within(group * size..group * size + filled, group * filled);
            }
            self.values.truncate(groups * filled);
            self.labels.truncate(filled);
            self.weights.truncate(filled);
        }
    }

    /// Adds the block to the sums.
    pub(super) fn take_in(&mut self) {
        self.moments.absorb_labels(&self.labels, &self.weights);
        if self.done == 0 {
            self.intercept = self.moments.label_mean;
        }
        let takes_steps = self.asks_e_processes() && self.gaps.is_empty() && self.late.is_empty();
        let Scratch { errors, columns, coefficients, .. } = &mut self.scratch;
        errors.clear();
        errors.extend(self.labels.iter().map(|y| y - self.intercept));
        coefficients.clear();
        coefficients.extend(self.support.iter().map(|&j| self.theta.view().get(j)));
        self.gaps.sort_unstable();
        self.moments.clip(columns, &mut self.values, coefficients, errors, &self.gaps, &self.weights);
        self.classes &= self.labels.iter().all(|y| y.abs() == 1.0);
        if self.classes {
            let weight = |row| weight_of(&self.weights, row);
            self.link.learn(errors.iter().zip(&self.labels).enumerate().map(|(row, (error, &label))| {
                Predicted { label_predicted: label - error, label, weight: weight(row) }
            }));
        }
        if takes_steps {
            let weight = |row| weight_of(&self.weights, row);
            let weighted = errors.iter().enumerate().map(|(row, r)| weight(row) * r);
            let (of_support, noise) = (self.support.len(), self.errors.mean());
            self.e_processes.absorb(columns, of_support, &self.values, weighted, noise);
        }
        let (attributes, values, labels) = (&*columns, &mut *self.values, &mut *self.labels);
        let (gaps, weights) = (&*self.gaps, &*self.weights);
        self.moments.absorb(Panel { attributes, values, labels, errors, gaps, weights });
        // They are weighted now.
        let weight = weight_of_all(weights, errors.len());
        self.errors.add(errors, weight, self.params.noise_memory());
    }

    /// Renews what follows from the coefficients. `explained` is what the former ones explain.
    fn after_decision(&mut self, explained: f64) {
        let theta = self.scratch.fit.support.iter().zip(&self.scratch.fit.coefficients);
        self.scratch.estimates.take();
        self.theta.reset(self.params.dim);
        for (&j, &b) in theta.filter(|(_, b)| **b != 0.0 && b.is_finite()) {
            self.theta.push(j, b);
        }
        let means = self.theta.view().iter().map(|(j, b)| b * self.moments.mean[j as usize]).sum::<f64>();
        self.intercept = self.moments.label_mean - means;
        self.variances.clear();
        let finite = |v: &f64| if v.is_finite() { v.max(0.0) } else { f64::MAX };
        self.variances.extend(self.scratch.fit.variances.iter().map(finite));
        for (i, &j) in self.support.iter().enumerate() {
            let z = self.theta.view().get(j) / self.variances[i].sqrt();
            self.z[j as usize] = if z.is_finite() { z } else { 0.0 };
        }

        if self.classes {
            let now = self.explained();
            if self.before.examples == self.moments.examples {
                // The support has changed: earlier predictions are like those to come as far as they explain
                // as much.
                let (less, more) = if explained < now { (explained, now) } else { (now, explained) };
                self.link.fade(if less > 0.0 { less / more } else { 0.0 });
            }
            self.link.fit(self.moments.label_mean, now);
        }
    }
}

impl Pursuit {
    /// Returns the part of the variance of two classes that the coefficients explain.
    fn explained(&self) -> f64 {
        let of_means = self.moments.label_mean * self.moments.label_mean;
        let part: f64 = self.theta.view().iter().map(|(j, b)| b * self.moments.label_product(j)).sum();
        part / (1.0 - of_means)
    }

    /// Checks that all values and labels are finite, and not too large.
    pub(crate) fn check(&self, block: &Block<'_>) -> Result<(), LearnError> {
        let asked = block.attributes();
        let columns = asked.iter().enumerate().map(|(c, &j)| (Some(j), block.column(c)));
        for (attribute, numbers) in columns.chain([(None, block.labels())]) {
            // The loop has no early exit, so that it processes many values at a time.
            if numbers.iter().fold(true, |all, x| all & (x.abs() <= LARGEST)) {
                continue;
            }
            let gap = |x: f64| x.is_nan() && attribute.is_some();
            if let Some(&value) = numbers.iter().find(|x| !x.is_finite() && !gap(**x)) {
                return Err(LearnError::NotFinite { attribute, value });
            }
            let Some(value) = numbers.iter().copied().find(|x| x.abs() > LARGEST) else { continue };
            let attribute = attribute.unwrap_or(asked[0]) as usize;
            return Err(LearnError::Diverged { update: self.done + 1, attribute, value });
        }
        Ok(())
    }
}

fn not_asked(told: &'static str) -> LearnError {
    const ASKED: &str = "values of the attributes asked for, of at least one and not more examples";
    LearnError::NotAsked { told, asked: ASKED }
}

impl Learner for Pursuit {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.order.is_empty() {
            self.order.extend(0..self.params.dim as u32);
            self.order.shuffle(rng);
        }
        if self.asked.is_empty() {
            self.choose();
        }
        ask.values(self.examples_left() as u64).extend_from_slice(&self.asked);
    }

    fn takes_gaps(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.apply(seen)
    }

    fn apply(&self, seen: Row<'_>) -> f64 {
        let mut label = self.intercept;
        for (j, b) in self.theta.view().iter() {
            if let Ok(place) = seen.attributes.binary_search(&j) {
                let (low, high) = self.moments.range(j);
                let x = seen.values[place];
                label += b * if x.is_nan() { self.mean(j) } else { x.clamp(low, high) };
            }
        }
        label
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        if block.attributes() != self.asked || self.asked.is_empty() {
            return Err(not_asked("values of other attributes"));
        }
        let rows = block.rows();
        if rows == 0 || rows > self.examples_left() {
            return Err(not_asked("no examples, or too many"));
        }
        self.check(&block)?;
        if !block.weights().unwrap_or_default().iter().all(is_weight) {
            let (told, asked) = ("weights that are none", "weights from 0 to 1e9");
            return Err(LearnError::NotAsked { told, asked });
        }
        if self.scratch.places.len() != self.asked.len() {
            self.order_columns();
        }
        let (size, from) = (self.labels.len(), self.filled);
        for (c, &place) in self.scratch.places.iter().enumerate() {
            let values = &mut self.values[place / 4 * size + from..][..rows];
            for (i, (row, &x)) in (from as u32..).zip(values.iter_mut().zip(block.column(c))) {
                if x.is_nan() {
                    self.gaps.push(Gap { row: i, column: place as u32 });
                }
                row[place % 4] = if x.is_nan() { 0.0 } else { x };
            }
        }
        self.labels[from..][..rows].copy_from_slice(block.labels());
        if let Some(weights) = block.weights() {
            self.is_weighted = true;
            self.weights.resize(size, 1.0);
            self.weights[from..][..rows].copy_from_slice(weights);
        }
        self.filled += rows;
        if self.examples_left() == 0 {
            self.update();
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn intercept(&self) -> f64 {
        self.intercept
    }

    fn updates(&self) -> u64 {
        self.done
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        Some(self.examples_left() as u64)
    }

    /// Foresees what is asked for until the next decision.
    fn foresee(&self, count: usize) -> Vec<Foreseen> {
        let Pursuit { params, support, pool, asked, looked, interest, order, .. } = self;
        let blocks = count.min(self.blocks_left as usize);
        if blocks == 0 || asked.is_empty() {
            return Vec::new();
        }
        let (free, mut examples) = (params.budget - support.len() - pool.len(), self.labels.len() as u64);
        let mut taken = vec![false; params.dim];
        let not_to_choose = [support, pool, &params.never, looked, asked].into_iter().flatten();
        not_to_choose.for_each(|&j| taken[j as usize] = true);
        let mut others: Vec<u32> = (0..params.dim as u32).filter(|&j| !taken[j as usize]).collect();
        others.sort_unstable_by(|a, b| {
            let [a, b] = [a, b].map(|j| (interest[*j as usize], order[*j as usize]));
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
        });
        let foreseen = |block: usize| {
            let next = others.get(block * free..(block + 1) * free).unwrap_or_default();
            let mut attributes = [support, &pool[..], next].concat();
            attributes.sort_unstable();
            let size = params.block_size(self.moments.examples + examples);
            examples += size;
            Foreseen { attributes, examples: size }
        };
        (0..blocks).map(foreseen).collect()
    }
}
