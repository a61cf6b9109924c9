//! Models for other programs: an SQL expression, a Python function, a table of coefficients, and ONNX.
//!
//! All forms do what [`Model::predict`] does with [`Missing::Mean`](crate::Missing::Mean): a missing value
//! counts as the mean of its attribute, and a value beyond [`Coefficient::within`] counts as the end of that
//! range. Numbers are written with as many digits as they have.

use crate::examples::Label;
use crate::model::{Coefficient, Model};
use std::fmt::Write as _;

impl Model {
    /// Returns the predictor as one expression of standard SQL, whose columns are those of the model. For two
    /// classes it is the probability of the positive one if the model knows it, else the sum whose sign tells
    /// the class.
    ///
    /// An empty text counts as missing, as in a table that was read from a file.
    ///
    /// ```
    /// # let text = include_str!("../tests/pressure.lao.json");
    /// let model = lao::Model::from_json(text)?;
    /// assert!(model.to_sql().contains(r#"WHEN "smoker" = 'yes' THEN"#));
    /// # Ok::<(), String>(())
    /// ```
    pub fn to_sql(&self) -> String {
        let mut sum = sql_number(self.intercept);
        for one in &self.coefficients {
            let _ = write!(sum, "\n  + {} * {}", sql_number(one.value), sql_attribute(one));
        }
        match self.link {
            Some(link) => {
                let (offset, slope) = (sql_number(link.offset), sql_number(link.slope));
                format!("1e0 / (1e0 + EXP(-({offset} + {slope} * ({sum}))))\n")
            }
            None => format!("{sum}\n"),
        }
    }

    /// Returns the predictor as a Python module that needs no other one. It has a function `predict(row)`,
    /// where `row` maps the names of columns to values; for two classes it has `probability(row)`, if the
    /// model knows it, and `classify(row)`.
    pub fn to_python(&self) -> String {
        let mut text = format!("\"\"\"Predicts {}. Written by lao {}.\"\"\"\n", one_line(&self.target), {
            &self.lao.version
        });
        text += "\nimport math\n\n\n";
        text += "def _number(value, mean, low=-math.inf, high=math.inf):\n";
        text += "    if value is None or value == \"\":\n        return mean\n";
        text += "    value = float(value)\n";
        text += "    return mean if math.isnan(value) else min(max(value, low), high)\n\n\n";
        text += "def _word(value, mean, word, same, other):\n";
        text += "    if value is None or value == \"\" or value != value:\n        return mean\n";
        text += "    if isinstance(value, (int, float)):\n";
        text += "        try:\n            return same if float(word) == value else other\n";
        text += "        except ValueError:\n            return other\n";
        text += "    return same if str(value) == word else other\n\n\n";
        let _ = writeln!(text, "COLUMNS = {}\n\n", python_list(&self.columns()));
        text +=
            "def predict(row):\n    \"\"\"Returns the prediction for a mapping from column to value.\"\"\"\n";
        let _ = writeln!(text, "    total = {:?}", self.intercept);
        for one in &self.coefficients {
            let (column, mean) = (python_text(&one.column), one.mean);
            let call = match (&one.word, one.within) {
                (Some(word), _) => {
                    let [same, other] = [1.0, 0.0].map(|x| one.clamped(x));
                    let word = python_text(word);
                    format!("_word(row.get({column}), {mean:?}, {word}, {same:?}, {other:?})")
                }
                (None, Some([low, high])) => {
                    format!("_number(row.get({column}), {mean:?}, {low:?}, {high:?})")
                }
                (None, None) => format!("_number(row.get({column}), {mean:?})"),
            };
            let _ = writeln!(text, "    total += {:?} * {call}", one.value);
        }
        text += "    return total\n";
        if let Label::Classes { positive, negative } = &self.label {
            if let Some(link) = self.link {
                text += "\n\ndef probability(row):\n";
                let _ = writeln!(text, "    \"\"\"Returns the probability of {}.\"\"\"", one_line(positive));
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

    /// Returns the coefficients as CSV: a line for the intercept, and one for each attribute.
    pub fn to_csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let header = ["attribute", "column", "word", "coefficient", "standard_error", "mean", "low", "high"];
        let text = |x: Option<f64>| x.map(|x| format!("{x:?}")).unwrap_or_default();
        let intercept = ["(intercept)", "", "", &text(Some(self.intercept)), "", "", "", ""];
        // Writing to memory cannot fail.
        let _ = out.write_record(header);
        let _ = out.write_record(intercept);
        for one in &self.coefficients {
            let (low, high) = one.within.map_or((None, None), |[low, high]| (Some(low), Some(high)));
            let numbers = [Some(one.value), one.standard_error, Some(one.mean), low, high].map(text);
            let words = [one.name(), one.column.clone(), one.word.clone().unwrap_or_default()];
            let _ = out.write_record(words.iter().chain(&numbers));
        }
        String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// Returns an approximate literal: with an exponent, so that no database takes it for a decimal number.
fn sql_number(x: f64) -> String {
    if x < 0.0 { format!("({x:e})") } else { format!("{x:e}") }
}

fn sql_attribute(one: &Coefficient) -> String {
    let column = format!("\"{}\"", one.column.replace('"', "\"\""));
    let mean = sql_number(one.mean);
    match (&one.word, one.within) {
        (Some(word), _) => {
            let word = word.replace('\'', "''");
            let [is, is_not] = [1.0, 0.0].map(|x| sql_number(one.clamped(x)));
            format!(
                "CASE WHEN {column} IS NULL OR {column} = '' THEN {mean} WHEN {column} = '{word}' THEN {is} \
                 ELSE {is_not} END"
            )
        }
        (None, Some([low, high])) => {
            let (low, high) = (sql_number(low), sql_number(high));
            format!(
                "CASE WHEN {column} IS NULL THEN {mean} WHEN {column} < {low} THEN {low} WHEN {column} > \
                 {high} THEN {high} ELSE {column} END"
            )
        }
        (None, None) => format!("COALESCE({column}, {mean})"),
    }
}

/// Returns a text as a Python literal.
fn python_text(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal + "\""
}

fn python_list(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| python_text(text)).collect();
    format!("[{}]", quoted.join(", "))
}

/// Returns a name without what would end a line or a docstring.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c == '"' || c == '\\' { ' ' } else { c }).collect()
}
