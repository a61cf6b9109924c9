//! Models for other programs: a Python module and a table of coefficients. SQL and ONNX have files of their
//! own.
//!
//! All forms do what [`Model::predict`] does with [`Missing::Mean`](crate::Missing::Mean): a missing value
//! counts as the mean of its attribute, and a value beyond [`Coefficient::within`] counts as the end of that
//! range. Numbers are written with as many digits as they have.

use crate::escape::{comment, python_text};
use crate::examples::Label;
use crate::model::Model;
use lao_algorithms::trees::{Tree, Trees};
use std::fmt::Write as _;

impl Model {
    /// Returns the predictor as a Python module that needs no other one. It has a function `predict(row)`,
    /// where `row` maps the names of columns to values; for two classes it has `probability(row)`, if the
    /// model knows it, and `classify(row)`.
    pub fn to_python(&self) -> String {
        let mut text = format!("\"\"\"Predicts {}. Written by lao {}.\"\"\"\n", comment(&self.target), {
            comment(&self.lao.version)
        });
        text += "\nimport math\n\n\n";
        text += "def _number(value, mean, gaps, low=-math.inf, high=math.inf):\n";
        text += "    try:\n        value = float(value)\n";
        text += "    except (TypeError, ValueError):\n        return mean\n";
        text += "    known = math.isfinite(value) and value not in gaps\n";
        text += "    return min(max(value, low), high) if known else mean\n\n\n";
        text += "def _word(value, mean, gaps, word, same, other):\n";
        text += "    if value is None or value != value:\n        return mean\n";
        text += "    if isinstance(value, (int, float)) and not isinstance(value, bool):\n";
        text += "        try:\n            return same if float(word) == value else other\n";
        text += "        except ValueError:\n            pass\n";
        text += "    value = str(value).strip()\n";
        text += "    return mean if value in gaps else same if value == word else other\n\n\n";
        let _ = writeln!(text, "COLUMNS = {}\n\n", python_list(&self.columns()));
        if let Some(trees) = &self.trees {
            text += &python_trees(trees);
        }
        text +=
            "def predict(row):\n    \"\"\"Returns the prediction for a mapping from column to value.\"\"\"\n";
        let _ = writeln!(text, "    total = {:?}", self.intercept);
        if self.trees.is_some() {
            text += "    values = []\n";
        }
        for one in &self.coefficients {
            let (column, mean) = (python_text(&one.column), one.mean);
            let (numbers, words) = self.gaps_of(&one.column);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (numbers, words) = (format!("{numbers:?}"), python_list(&words));
            let call = match (&one.word, one.within) {
                (Some(word), _) => {
                    let [same, other] = [1.0, 0.0].map(|x| one.clamped(x));
                    let word = python_text(word);
                    format!("_word(row.get({column}), {mean:?}, {words}, {word}, {same:?}, {other:?})")
                }
                (None, Some([low, high])) => {
                    format!("_number(row.get({column}), {mean:?}, {numbers}, {low:?}, {high:?})")
                }
                (None, None) => format!("_number(row.get({column}), {mean:?}, {numbers})"),
            };
            if self.trees.is_some() {
                let _ = writeln!(text, "    values.append({call})");
                let _ = writeln!(text, "    total += {:?} * values[-1]", one.value);
            } else {
                let _ = writeln!(text, "    total += {:?} * {call}", one.value);
            }
        }
        if let Some(trees) = &self.trees {
            let _ = writeln!(
                text,
                "    total += {:?} * sum(_leaf(values, *tree) for tree in TREES)",
                trees.scale
            );
        }
        text += "    return total\n";
        if let Label::Classes { positive, negative } = &self.label {
            if let Some(link) = self.link {
                text += "\n\ndef probability(row):\n";
                let _ = writeln!(text, "    \"\"\"Returns the probability of {}.\"\"\"", comment(positive));
                let _ = writeln!(text, "    odds = {:?} + {:?} * predict(row)", link.offset, link.slope);
                // Neither form overflows where it is used.
                text += "    if odds >= 0.0:\n        return 1.0 / (1.0 + math.exp(-odds))\n";
                text += "    return math.exp(odds) / (1.0 + math.exp(odds))\n";
            }
            text += "\n\ndef classify(row):\n    \"\"\"Returns the class.\"\"\"\n";
            let (positive, negative) = (python_text(positive), python_text(negative));
            let threshold = self.threshold();
            let _ = writeln!(text, "    return {positive} if predict(row) > {threshold:?} else {negative}");
        }
        text
    }

    /// Returns the coefficients as CSV: a line for the intercept, and one for each attribute. Trees are not
    /// in it.
    pub fn to_csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let header = ["attribute", "column", "word", "coefficient", "standard_error", "mean", "low", "high"];
        let header = header.into_iter().chain(["interval_low", "interval_high"]);
        let text = |x: Option<f64>| x.map(|x| format!("{x:?}")).unwrap_or_default();
        let intercept = ["(intercept)", "", "", &text(Some(self.intercept)), "", "", "", "", "", ""];
        // Writing to memory cannot fail.
        let _ = out.write_record(header);
        let _ = out.write_record(intercept);
        for one in &self.coefficients {
            let (low, high) = one.within.map_or((None, None), |[low, high]| (Some(low), Some(high)));
            let [from, to] = one.interval.map_or([None; 2], |ends| ends.map(Some));
            let numbers =
                [Some(one.value), one.standard_error, Some(one.mean), low, high, from, to].map(text);
            let words = [one.name(), one.column.clone(), one.word.clone().unwrap_or_default()];
            let _ = out.write_record(words.iter().chain(&numbers));
        }
        String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// Returns trees as lists of numbers, and the function that goes from the root to a leaf.
fn python_trees(trees: &Trees) -> String {
    let mut text =
        String::from("# Columns, cuts, places below and above, and leaves of each tree.\nTREES = [\n");
    for Tree { column, cut, below, above, leaf } in &trees.trees {
        let cuts =
            column.iter().zip(cut).map(|(&column, &cut)| trees.cuts[usize::from(column)][usize::from(cut)]);
        let (cuts, leaf) =
            (cuts.collect::<Vec<f64>>(), leaf.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        let _ = writeln!(text, "    ({column:?}, {cuts:?}, {below:?}, {above:?}, {leaf:?}),");
    }
    text += "]\n\n\n";
    text += "def _leaf(values, column, cut, below, above, leaf):\n";
    text += "    at = 0 if column else -1\n";
    text += "    while at >= 0:\n";
    text += "        at = below[at] if values[column[at]] <= cut[at] else above[at]\n";
    text += "    return leaf[-1 - at]\n\n\n";
    text
}

fn python_list(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| python_text(text)).collect();
    format!("[{}]", quoted.join(", "))
}
