//! Models as expressions of SQL.
//!
//! An expression says what [`Model::predict`] does: a missing value is the mean of its attribute, and a value
//! beyond [`Coefficient::within`] is the nearer end of that range. Missing is NULL, NaN and what is not
//! finite, an empty text, and what stood for a missing value when the model was learned.

use crate::escape::comment;
use crate::frame::marks;
use crate::model::{Coefficient, Model};
use lao_algorithms::trees::{Tree, Trees};
use std::fmt::Write as _;

/// A database's own SQL.
///
/// ```
/// # let text = include_str!("../tests/pressure.lao.json");
/// use lao::Dialect;
///
/// let model = lao::Model::from_json(text)?;
/// assert!(model.to_sql(Dialect::Ansi).contains("TRIM(smoker) = 'yes'"));
/// assert!(model.to_sql(Dialect::BigQuery).contains("TRIM(`smoker`) = 'yes'"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The standard, as PostgreSQL, SQLite and DuckDB read it. Names that need no quotes have none, so that
    /// other databases read them, too.
    #[default]
    Ansi,
    /// MySQL and MariaDB.
    MySql,
    /// BigQuery.
    BigQuery,
    /// Spark and Hive.
    Spark,
    /// SQL Server.
    TSql,
    /// Oracle.
    Oracle,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::Ansi => "standard SQL (PostgreSQL, SQLite, DuckDB)",
            Dialect::MySql => "MySQL and MariaDB",
            Dialect::BigQuery => "BigQuery",
            Dialect::Spark => "Spark and Hive",
            Dialect::TSql => "SQL Server",
            Dialect::Oracle => "Oracle",
        }
    }

    /// Returns an approximate literal: with an exponent, so that no database takes it for a decimal number.
    fn number(self, x: f64) -> String {
        let end = if self == Dialect::Oracle { "d" } else { "" };
        if x < 0.0 { format!("({x:e}{end})") } else { format!("{x:e}{end}") }
    }

    /// Returns a literal of text.
    fn text(self, text: &str) -> String {
        let doubled = text.replace('\'', "''");
        match self {
            Dialect::Ansi | Dialect::Oracle => format!("'{doubled}'"),
            Dialect::TSql => format!("N'{doubled}'"),
            Dialect::MySql => format!("'{}'", doubled.replace('\\', "\\\\")),
            Dialect::BigQuery | Dialect::Spark => {
                let mut escaped = String::new();
                for c in text.chars() {
                    match c {
                        '\\' | '\'' => escaped.extend(['\\', c]),
                        '\n' => escaped += "\\n",
                        '\r' => escaped += "\\r",
                        c => escaped.push(c),
                    }
                }
                format!("'{escaped}'")
            }
        }
    }

    /// Returns the name of a column.
    fn column(self, name: &str) -> String {
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !RESERVED.contains(&name);
        match self {
            Dialect::Ansi | Dialect::Oracle if plain => name.to_owned(),
            Dialect::Ansi | Dialect::Oracle => format!("\"{}\"", name.replace('"', "\"\"")),
            Dialect::MySql | Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            Dialect::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Dialect::TSql => format!("[{}]", name.replace(']', "]]")),
        }
    }

    /// Returns a column of words as what is compared: without blanks around it, by its characters alone.
    fn word(self, column: &str) -> String {
        match self {
            Dialect::MySql => format!("CONVERT(TRIM({column}) USING utf8mb4) COLLATE utf8mb4_bin"),
            Dialect::TSql => format!("TRIM({column}) COLLATE Latin1_General_BIN2"),
            _ => format!("TRIM({column})"),
        }
    }

    /// Returns the largest number that counts as one; what is above it is not finite.
    fn largest(self) -> f64 {
        f64::MAX
    }
}

/// Words of SQL that name no column without quotes in some database.
const RESERVED: [&str; 116] = [
    "access",
    "add",
    "all",
    "alter",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "audit",
    "between",
    "by",
    "case",
    "cast",
    "char",
    "check",
    "cluster",
    "collate",
    "column",
    "comment",
    "compress",
    "condition",
    "connect",
    "constraint",
    "convert",
    "create",
    "cross",
    "current",
    "cursor",
    "database",
    "date",
    "decimal",
    "default",
    "delete",
    "desc",
    "describe",
    "distinct",
    "div",
    "double",
    "drop",
    "else",
    "end",
    "except",
    "exclusive",
    "exists",
    "false",
    "fetch",
    "file",
    "float",
    "for",
    "foreign",
    "from",
    "full",
    "function",
    "grant",
    "group",
    "groups",
    "having",
    "identified",
    "if",
    "in",
    "increment",
    "index",
    "initial",
    "inner",
    "insert",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "key",
    "left",
    "level",
    "like",
    "limit",
    "lock",
    "long",
    "mode",
    "natural",
    "not",
    "null",
    "number",
    "of",
    "offset",
    "on",
    "option",
    "or",
    "order",
    "outer",
    "rank",
    "raw",
    "right",
    "row",
    "rows",
    "select",
    "session",
    "set",
    "size",
    "start",
    "table",
    "then",
    "to",
    "true",
    "union",
    "unique",
    "update",
    "user",
    "using",
    "values",
    "view",
    "when",
    "where",
];

impl Model {
    /// Returns the predictor as one expression, whose columns are those of the model. For two classes it is
    /// the probability of the positive one if the model knows it, else the sum whose sign tells the class.
    ///
    /// A comment before it says what is assumed of the columns, and gives a row with its prediction to check
    /// by.
    pub fn to_sql(&self, dialect: Dialect) -> String {
        let sum = self.sql_sum(dialect);
        let number = |x| dialect.number(x);
        let expression = match self.link {
            None => sum,
            Some(link) => {
                let odds = format!("({} + {} * ({sum}))", number(link.offset), number(link.slope));
                let share = format!("{one} / ({one} + EXP(-{odds}))", one = number(1.0));
                // Beyond, the exponential is more than a database has numbers for.
                const MOST: f64 = 700.0;
                if self.largest_odds(link.offset, link.slope) < MOST {
                    share
                } else {
                    let least = number(-MOST);
                    format!("CASE WHEN {odds} < {least} THEN {} ELSE {share} END", number(0.0))
                }
            }
        };
        format!("{}{expression}\n", self.sql_comment(dialect))
    }

    fn sql_sum(&self, dialect: Dialect) -> String {
        let mut sum = dialect.number(self.intercept);
        for one in &self.coefficients {
            let attribute = self.sql_attribute(one, dialect);
            let _ = write!(sum, "\n  + {} * {attribute}", dialect.number(one.value));
        }
        for tree in self.trees.iter().flat_map(|trees| &trees.trees) {
            let _ = write!(sum, "\n  + {}", self.sql_tree(tree, dialect));
        }
        sum
    }

    /// Returns a tree as cases within cases. A value that is missing goes where the mean goes.
    fn sql_tree(&self, tree: &Tree, dialect: Dialect) -> String {
        let Some(trees) = &self.trees else { return dialect.number(0.0) };
        let split = |column: usize, cut: f64, below: String, above: String| {
            let Some(one) = self.coefficients.get(column) else { return below };
            if one.word.is_some() {
                let attribute = self.sql_attribute(one, dialect);
                return format!(
                    "CASE WHEN {attribute} <= {} THEN {below} ELSE {above} END",
                    dialect.number(cut)
                );
            }
            let name = dialect.column(&one.column);
            let [least, most, at] = [-dialect.largest(), dialect.largest(), cut].map(|x| dialect.number(x));
            let of_mean_is_below = one.mean <= cut;
            // What is NULL, NaN or no finite number fulfills neither condition.
            let (mut when, then, otherwise) = if of_mean_is_below {
                (format!("{name} > {at} AND {name} <= {most}"), above, below)
            } else {
                (format!("{name} BETWEEN {least} AND {at}"), below, above)
            };
            for gap in self.gaps_of(&one.column).0.into_iter().filter(|gap| (*gap <= cut) != of_mean_is_below)
            {
                let _ = write!(when, " AND {name} <> {}", dialect.number(gap));
            }
            format!("CASE WHEN {when} THEN {then} ELSE {otherwise} END")
        };
        trees.fold(tree, &|leaf| dialect.number(leaf), &split)
    }

    /// Returns a bound on the log odds; infinite if an attribute has no range.
    fn largest_odds(&self, offset: f64, slope: f64) -> f64 {
        let of = |one: &Coefficient| match (&one.word, one.within) {
            (_, Some([low, high])) => (one.value * low).abs().max((one.value * high).abs()),
            (Some(_), None) => one.value.abs(),
            (None, None) => f64::INFINITY,
        };
        let largest =
            |tree: &Tree| tree.leaf.iter().fold(0.0f64, |most, leaf| most.max(f64::from(leaf.abs())));
        let of_trees = |trees: &Trees| trees.scale.abs() * trees.trees.iter().map(largest).sum::<f64>();
        let sum = self.intercept.abs()
            + self.coefficients.iter().map(of).sum::<f64>()
            + self.trees.as_ref().map_or(0.0, of_trees);
        offset.abs() + slope.abs() * sum
    }

    fn sql_attribute(&self, one: &Coefficient, dialect: Dialect) -> String {
        let column = dialect.column(&one.column);
        let mean = dialect.number(one.mean);
        let (numbers, words) = self.gaps_of(&one.column);
        if let Some(word) = &one.word {
            let [is, is_not] = [1.0, 0.0].map(|x| dialect.number(one.clamped(x)));
            let shown = dialect.word(&column);
            let missing: Vec<String> = words.iter().map(|word| dialect.text(word)).collect();
            return format!(
                "CASE WHEN {column} IS NULL OR {shown} IN ({}) THEN {mean} WHEN {shown} = {} THEN {is} ELSE \
                 {is_not} END",
                missing.join(", "),
                dialect.text(word),
            );
        }
        let most = dialect.largest();
        let [low, high] = one.within.unwrap_or([-most, most]);
        let mut when = String::new();
        for gap in numbers {
            let _ = write!(when, " WHEN {column} = {} THEN {mean}", dialect.number(gap));
        }
        let [low_text, high_text, least, most_text] = [low, high, -most, most].map(|x| dialect.number(x));
        let _ = write!(when, " WHEN {column} BETWEEN {low_text} AND {high_text} THEN {column}");
        if low > -most {
            let _ = write!(when, " WHEN {column} BETWEEN {least} AND {low_text} THEN {low_text}");
        }
        if high < most {
            let _ = write!(when, " WHEN {column} BETWEEN {high_text} AND {most_text} THEN {high_text}");
        }
        // What is in no range is NULL or NaN.
        format!("CASE{when} ELSE {mean} END")
    }

    /// Returns the numbers and the texts that stand for a missing value of a column, beside what always does.
    pub(crate) fn gaps_of(&self, column: &str) -> (Vec<f64>, Vec<String>) {
        let reading = &self.origin.reading;
        let mut words: Vec<String> = vec![String::new()];
        if !reading.missing_only {
            words.extend(marks().filter(|mark| !mark.is_empty()).map(str::to_owned));
        }
        let of = |gap: &String| match crate::frame::column_of_gap(gap) {
            Some((own, field)) => (own == column).then(|| field.to_owned()),
            None => Some(gap.clone()),
        };
        let fields: Vec<String> = reading.missing.iter().filter_map(of).collect();
        let decimal = reading.decimal.unwrap_or(b',');
        let numbers = fields.iter().filter_map(|field| crate::frame::number(field.as_bytes(), decimal));
        let numbers: Vec<f64> = numbers.collect();
        for field in fields {
            if !words.contains(&field) {
                words.push(field);
            }
        }
        (numbers, words)
    }

    /// Returns a comment: what the expression predicts, what it assumes, and a row to check by.
    fn sql_comment(&self, dialect: Dialect) -> String {
        let what = match (&self.label, self.link) {
            (crate::Label::Classes { positive, .. }, Some(_)) => {
                format!("the probability that {} is {}", comment(&self.target), comment(positive))
            }
            (crate::Label::Classes { positive, .. }, None) => {
                format!("a number that is positive where {} is {}", comment(&self.target), comment(positive))
            }
            _ => comment(&self.target),
        };
        let mut text =
            format!("/* Predicts {what}, by lao {}; for {}.\n", comment(&self.lao.version), dialect.name());
        let (mut numbers, mut words, mut row, mut sum) = (Vec::new(), Vec::new(), Vec::new(), self.intercept);
        let mut values = Vec::new();
        for one in &self.coefficients {
            let (list, value, shown) = match &one.word {
                // A column has one word.
                Some(_) if words.contains(&comment(&one.column)) => {
                    sum += one.value * one.clamped(0.0);
                    values.push(one.clamped(0.0));
                    continue;
                }
                Some(word) => (&mut words, 1.0, comment(word)),
                None => {
                    let value = one.within.map_or(one.mean, |[_, high]| (one.mean + high) / 2.0);
                    (&mut numbers, value, format!("{value:?}"))
                }
            };
            list.push(comment(&one.column));
            row.push(format!("{} = {shown}", comment(&one.column)));
            sum += one.value * one.clamped(value);
            values.push(one.clamped(value));
        }
        if let Some(trees) = &self.trees {
            sum += trees.of(&values);
            let _ = writeln!(
                text,
                "   It has {} trees of nested cases; some databases limit the length of an expression.",
                trees.trees.len()
            );
        }
        if !numbers.is_empty() {
            let _ = writeln!(text, "   Columns of numbers, of type double: {}.", numbers.join(", "));
        }
        if !words.is_empty() {
            let _ = writeln!(
                text,
                "   Columns of text, compared letter by letter, capitals included: {}.",
                words.join(", ")
            );
        }
        let predicted = self.probability(sum).unwrap_or(sum);
        if !row.is_empty() {
            let _ = writeln!(text, "   To check: {} gives {predicted:?}.", row.join(", "));
        }
        text + "*/\n"
    }
}
