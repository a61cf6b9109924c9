//! What can be chosen beside the budget.

use super::Fit;
use crate::choices::Choices;
use lao_algorithms::phases::Shape;

impl Fit {
    /// Sets the money that a prediction may cost. By default it is about four fifths of that for an example
    /// with `pursuit`, and that for an example with other methods.
    pub fn predict_within(self, money: f64) -> Self {
        Fit { choices: Choices { per_prediction: Some(money), ..self.choices }, ..self }
    }

    /// Sets the method, by [name](lao_algorithms::TableMethod::of). The default is `pursuit`.
    ///
    /// ```
    /// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
    /// // let table = "diabetes.csv.gz"; // all of its values are at hand
    /// let examples = lao::read(table)?.target("progression")?;
    /// let model = lao::Fit::within(10).method("exchange").run(&examples)?.model;
    /// assert_eq!(model.columns(), ["sex", "bmi", "bp", "tc", "ldl", "ltg"]);
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn method(self, name: &str) -> Self {
        Fit { choices: Choices { method: name.into(), ..self.choices }, ..self }
    }

    /// Sets the largest number of attributes of the predictor. By default it is four fifths of the budget for
    /// `pursuit`, what the data choose for `exchange`, and half of the budget for other methods; where prices
    /// differ, these have at most as many as can be paid whichever they are.
    pub fn most_attributes(self, attributes: usize) -> Self {
        Fit { choices: Choices { longest: Some(attributes), ..self.choices }, ..self }
    }

    /// Sets the probability with which an attribute without effect is ever taken in, at most. The default is
    /// .05. Only `pursuit` keeps to such a level.
    pub fn level(self, level: f64) -> Self {
        Fit { choices: Choices { level: Some(level), ..self.choices }, ..self }
    }

    /// Sets the expected share of attributes without effect among those that are ever taken in, at most, in
    /// the place of the [level](Self::level). Where many attributes have an effect, more of them are found.
    /// Only `pursuit` keeps to it.
    pub fn fdr(self, share: f64) -> Self {
        Fit { choices: Choices { fdr: Some(share), ..self.choices }, ..self }
    }

    /// Lets the weight of an example halve with every `examples` that follow, at least 20, for coefficients
    /// that change; the examples are [taken in their order](Self::in_order) then. Without a half-life all
    /// examples count the same. Only `pursuit` has one.
    ///
    /// ```
    /// # let mut rows = String::from("flow,heat,yield\n");
    /// # for i in 0..3000u32 {
    /// #     let (a, b) = (f64::from(i * 7 % 61), f64::from(i * 11 % 53));
    /// #     let slope = if i < 1500 { 1.0 } else { 3.0 };
    /// #     rows += &format!("{a},{b},{}\n", slope * a + f64::from(i * 17 % 7));
    /// # }
    /// # let frame = lao::Frame::parse(rows.as_bytes(), "plant.csv", &Default::default())?;
    /// // let frame = lao::read("plant.csv")?; // the yield per flow has tripled half way
    /// let examples = frame.target("yield")?;
    /// let slope = |fit: lao::Fit| -> Result<f64, lao::Error> {
    ///     Ok(fit.run(&examples)?.model.coefficients[0].value)
    /// };
    /// assert!((slope(lao::Fit::within(2).half_life(200.0))? - 3.0).abs() < 0.1);
    /// assert!(slope(lao::Fit::within(2).in_order())? < 2.5);
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn half_life(self, examples: f64) -> Self {
        Fit { choices: Choices { half_life: Some(examples), in_order: true, ..self.choices }, ..self }
    }

    /// Sets the columns that the predictor always has, whatever their effect. Only `pursuit` can keep them.
    pub fn always(self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Fit {
            choices: Choices { always: columns.into_iter().map(Into::into).collect(), ..self.choices },
            ..self
        }
    }

    /// Sets what the predictor may be. By default, [`Shape::Auto`], the best attributes are bought complete
    /// once they are found, and the data choose between Pursuit's line, a ridge line on the complete rows,
    /// and trees. Only `pursuit` has this choice.
    ///
    /// ```
    /// // The label is a product, which no line has.
    /// let mut rows = String::from("a,b,c,d,y\n");
    /// for i in 0..2000u32 {
    ///     let [a, b, c, d] = [7, 11, 13, 17].map(|step| f64::from(i * step % 101) / 50.0 - 1.0);
    ///     rows += &format!("{a},{b},{c},{d},{}\n", a + b + 4.0 * a * b);
    /// }
    /// let examples = lao::Frame::parse(rows.as_bytes(), "plant.csv", &Default::default())?.target("y")?;
    /// let r2 = |fit: lao::Fit| -> Result<f64, lao::Error> {
    ///     Ok(fit.run(&examples)?.model.holdout.unwrap().r2())
    /// };
    /// assert!(r2(lao::Fit::within(3).shape(lao::Shape::Line))? < 0.5);
    /// assert!(r2(lao::Fit::within(3))? > 0.9);
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn shape(self, shape: Shape) -> Self {
        Fit { choices: Choices { shape, ..self.choices }, ..self }
    }

    /// Sets the share of the examples that is held out to measure the error; 0 holds out none.
    pub fn holdout(self, share: f64) -> Self {
        Fit { choices: Choices { holdout: share, ..self.choices }, ..self }
    }

    /// Sets how often the examples are gone through. With more than one pass, standard errors and levels of
    /// significance are too small.
    pub fn passes(self, passes: u64) -> Self {
        Fit { choices: Choices { passes, ..self.choices }, ..self }
    }

    /// Takes the examples in the order of the table, and holds out the last ones, where they come in a random
    /// order otherwise. This is right for a table whose rows follow one another in time, and fast for one of
    /// which parts are loaded one after the other. It is wrong for a table that is sorted by anything that
    /// tells of the label.
    pub fn in_order(self) -> Self {
        Fit { choices: Choices { in_order: true, ..self.choices }, ..self }
    }

    /// Sets the seed from which all draws descend.
    pub fn seed(self, seed: u64) -> Self {
        Fit { choices: Choices { seed, ..self.choices }, ..self }
    }
}
