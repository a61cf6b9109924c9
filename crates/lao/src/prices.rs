//! What the columns of a table cost, as people write it: a line for each, with the price and the panel.

use crate::error::{Error, nearest};
use crate::frame::line_of;
use lao_observation::Tariff;
use std::collections::HashMap;
use std::path::Path;

/// Prices of columns, in any unit of money. Columns of one panel are bought together: the panel is paid once
/// per example. A price of 0 is free.
///
/// All lines of a panel have the same price, which is that of the whole panel. A column of words is bought as
/// a whole, whatever the number of its words.
///
/// ```
/// let text = "attribute,price,panel\nage,0\nhdl,8,blood\nldl,8,blood\nscan,40\n";
/// let prices = lao::Prices::parse(text, "prices.csv")?;
/// let priced = prices.of(&["age", "scan", "hdl", "ldl"], &[])?;
/// assert_eq!(priced.panels, ["age", "scan", "blood"]);
/// assert_eq!(priced.tariff.prices(), [0.0, 40.0, 8.0]);
///
/// let refused = prices.of(&["age", "scan", "hdl", "ldl", "crp"], &[]).unwrap_err().to_string();
/// assert!(refused.contains("`crp`") && refused.contains("prices.csv has no price of it"));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    file: String,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq)]
struct Line {
    number: u64,
    column: String,
    price: f64,
    panel: Option<String>,
}

/// A tariff whose panels have names.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedColumns {
    /// The prices, and the panel of each attribute.
    pub tariff: Tariff,
    /// The name of each panel: of a column that is bought alone, the name of the column.
    pub panels: Vec<String>,
}

impl Prices {
    /// Reads a file of lines `attribute,price` or `attribute,price,panel`; the first line may name these.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is none, with its number and what to do.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the text of such a file, which messages call `file`.
    ///
    /// # Errors
    /// When a line is none, with its number and what to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, Error> {
        let fail = |line, reason| Error::Table { file: file.into(), line, reason };
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut prices = Prices { file: file.into(), lines: Vec::new() };
        for (at, record) in reader.records().enumerate() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(0, |position| position.line());
                fail(line, error.to_string())
            })?;
            let number = line_of(text.as_bytes(), record.position());
            let field = |c: usize| record.get(c).filter(|field| !field.is_empty());
            if at == 0 && (field(0), field(1)) == (Some("attribute"), Some("price")) {
                continue;
            }
            let (Some(column), Some(price), true) = (field(0), field(1), record.len() <= 3) else {
                return Err(fail(number, "write `attribute,price` or `attribute,price,panel`".into()));
            };
            let worth = price.parse::<f64>().ok().filter(|price| *price >= 0.0 && price.is_finite());
            let Some(worth) = worth else {
                let reason = format!(
                    "the price of `{column}` is `{price}`: write a number of at least 0, without a unit"
                );
                return Err(fail(number, reason));
            };
            let line = Line { number, column: column.into(), price: worth, panel: field(2).map(Into::into) };
            prices.add(line)?;
        }
        if prices.lines.is_empty() {
            return Err(fail(1, "it has no prices; write a line `attribute,price` for each column".into()));
        }
        Ok(prices)
    }

    /// Adds a line, which must agree with those before.
    fn add(&mut self, line: Line) -> Result<(), Error> {
        let fail = |reason| Err(Error::Table { file: self.file.clone(), line: line.number, reason });
        if let Some(other) = self.lines.iter().find(|other| other.column == line.column) {
            let reason =
                format!("`{}` has a price in line {} already; remove one", line.column, other.number);
            return fail(reason);
        }
        let of_panel = |other: &&Line| other.panel.is_some() && other.panel == line.panel;
        if let Some(other) = self.lines.iter().find(of_panel)
            && other.price != line.price
        {
            let panel = line.panel.as_deref().unwrap_or_default();
            return fail(format!(
                "the panel `{panel}` costs {} here and {} in line {}; each of its lines has the price of the \
                 whole panel",
                line.price, other.price, other.number
            ));
        }
        self.lines.push(line);
        Ok(())
    }

    /// Returns the tariff of all columns that have a price, in the order of the lines.
    ///
    /// # Errors
    /// None, as long as there are prices.
    pub fn of_all(&self) -> Result<PricedColumns, Error> {
        let columns: Vec<&str> = self.lines.iter().map(|line| line.column.as_str()).collect();
        self.of(&columns, &[])
    }

    /// Returns the tariff of attributes that are in these columns, in this order; a column that is named more
    /// than once is bought once. Prices of `others` are allowed and not used.
    ///
    /// # Errors
    /// When a column has no price, or a price is of a column that does not exist, with the nearest name.
    pub fn of(&self, columns: &[&str], others: &[&str]) -> Result<PricedColumns, Error> {
        let prices: HashMap<&str, &Line> =
            self.lines.iter().map(|line| (line.column.as_str(), line)).collect();
        let exists = |line: &&Line| {
            let is = |name: &&str| *name == line.column;
            columns.iter().any(is) || others.iter().any(is)
        };
        if let Some(line) = self.lines.iter().find(|line| !exists(line)) {
            let near = nearest(&line.column, columns.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            let reason = format!("there is no attribute `{}`{near}; correct or remove the line", line.column);
            return Err(Error::Table { file: self.file.clone(), line: line.number, reason });
        }
        // A panel and a column of one name are different things to buy.
        let mut places: HashMap<(bool, &str), u32> = HashMap::new();
        let (mut of_attributes, mut prices_of_panels, mut panels) = (Vec::new(), Vec::new(), Vec::new());
        for &column in columns {
            let Some(line) = prices.get(column) else {
                let near = nearest(column, self.lines.iter().map(|line| line.column.as_str()));
                let near = near
                    .filter(|near| !columns.contains(&near.as_str()))
                    .map_or_else(String::new, |near| format!(", but one of `{near}`"));
                let reason = format!("{} has no price of it{near}; add a line `{column},PRICE`", self.file);
                return Err(Error::Column { column: column.into(), reason });
            };
            let name = line.panel.as_deref().unwrap_or(column);
            let panel = *places.entry((line.panel.is_some(), name)).or_insert_with(|| {
                prices_of_panels.push(line.price);
                panels.push(name.to_owned());
                panels.len() as u32 - 1
            });
            of_attributes.push(panel);
        }
        Ok(PricedColumns { tariff: Tariff::with_panels(of_attributes, prices_of_panels)?, panels })
    }
}
