//! What the columns of a table cost, as people write it: a line for each, with the price and the panel.

use crate::error::{Error, nearest};
use crate::sheet::{Sheet, SheetRow};
use lao_observation::Tariff;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Prices of columns, in any unit of money. Columns of one panel are bought together: the panel is paid once
/// per example. A price of 0 is free.
///
/// All lines of a panel have the same price, which is that of the whole panel, unless they have a second
/// price that a column costs if another one of the panel is bought: then what the first column costs more is
/// a fee, and all columns of the panel have the same one. A column of words is bought as a whole, whatever
/// the number of its words.
///
/// ```
/// let text = "attribute,price,panel\nage,0\nhdl,8,blood\nldl,8,blood\nscan,40\n";
/// let prices = lao::Prices::parse(text, "prices.csv")?;
/// let priced = prices.of(&["age", "scan", "hdl", "ldl"], &[])?;
/// assert_eq!(priced.panels, ["age", "scan", "blood"]);
/// assert_eq!(priced.tariff.prices(), [0.0, 40.0, 8.0]);
///
/// // The first test of a blood sample costs 8, each further one 2.
/// let text = "attribute,price,panel,further\nage,0\nhdl,8,blood,2\nldl,8,blood,2\n";
/// let priced = lao::Prices::parse(text, "prices.csv")?.of_all()?;
/// assert_eq!(priced.panels, ["age", "hdl", "ldl", "blood"]);
/// assert_eq!(priced.tariff.cost(&[1, 2], &mut Default::default()), 10.0);
///
/// let refused = prices.of(&["age", "scan", "hdl", "ldl", "crp"], &[]).unwrap_err().to_string();
/// assert!(refused.contains("`crp`") && refused.contains("prices.csv has no price of it"));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The file, if the prices come from one.
    file: Option<String>,
    lines: Vec<Line>,
}

/// The price of a column.
///
/// ```
/// use lao::{Price, Prices};
///
/// let prices = Prices::new(vec![Price::of("age", 0.0), Price::of("scan", 40.0)])?;
/// assert_eq!(prices.list().map(|line| line.price).sum::<f64>(), 40.0);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The name of the column.
    pub column: String,
    /// What the column costs for one example; of a column of a panel, what the panel costs. It is a finite
    /// number of at least 0.
    pub price: f64,
    /// The panel with which the column is bought; `None` is a column that is bought alone.
    pub panel: Option<String>,
    /// What the column costs if another one of its panel is bought, at most the price; `None` is a panel that
    /// is bought as a whole.
    pub further: Option<f64>,
}

impl Price {
    /// Returns the price of a column that is bought alone.
    pub fn of(column: &str, price: f64) -> Self {
        Price { column: column.into(), price, panel: None, further: None }
    }

    /// Returns what the first column of the panel costs more than another one.
    fn fee(&self) -> Option<f64> {
        self.further.map(|further| self.price - further)
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Line {
    /// Its number in the file; 0 without a file.
    number: u64,
    of: Price,
}

/// A tariff whose panels have names.
///
/// ```
/// let prices = lao::Prices::parse("hdl,8,blood\nldl,8,blood\nscan,40\n", "prices.csv")?;
/// let priced = prices.of_all()?;
/// assert_eq!((priced.panels, priced.tariff.dim()), (vec!["blood".into(), "scan".to_string()], 3));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PricedColumns {
    /// The prices, and the panel of each attribute.
    pub tariff: Tariff,
    /// The name of each panel: of a column that is bought alone, the name of the column.
    pub panels: Vec<String>,
}

impl Prices {
    /// Reads a file of lines `attribute,price`, `attribute,price,panel` or `attribute,price,panel,further`;
    /// the first line may name these.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is none, with its number and what to do.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let bytes = std::fs::read(path).map_err(failed)?;
        Self::parse_bytes(&bytes, &path.display().to_string())
    }

    /// Reads the text of such a file, which messages call `file`.
    ///
    /// # Errors
    /// When a line is none, with its number and what to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, Error> {
        Self::parse_bytes(text.as_bytes(), file)
    }

    fn parse_bytes(text: &[u8], file: &str) -> Result<Self, Error> {
        let fail = |line, reason| Error::Table { file: file.into(), line, reason };
        let sheet = Sheet::parse(text, file)?;
        let mut lines = Vec::new();
        // The places of column, price, panel and further price, and whether there may be others.
        let (mut places, mut named) = ([Some(0), Some(1), Some(2), Some(3)], false);
        for SheetRow { line: number, fields } in &sheet.rows {
            let number = *number;
            if fields.first().is_some_and(|field| field.starts_with('#')) {
                continue;
            }
            let split;
            let fields = match &fields[..] {
                // As in `age: 1.00`.
                [one] if one.contains(':') => {
                    let (column, price) = one.rsplit_once(':').unwrap_or_default();
                    split = [column.trim().to_owned(), price.trim().to_owned()];
                    &split[..]
                }
                fields => fields,
            };
            if lines.is_empty() && !named {
                let place = |name: &str| fields.iter().position(|field| field.eq_ignore_ascii_case(name));
                if let (Some(column), Some(price)) = (place("attribute"), place("price")) {
                    (places, named) = ([Some(column), Some(price), place("panel"), place("further")], true);
                    continue;
                }
            }
            let field = |place: Option<usize>| {
                place.and_then(|c| fields.get(c)).map(String::as_str).filter(|field| !field.is_empty())
            };
            let [column, price, panel, further] = places.map(field);
            let (Some(column), Some(price), true) = (column, price, named || fields.len() <= 4) else {
                let reason = "write `attribute,price`, `attribute,price,panel` or \
                              `attribute,price,panel,further`; a first line with these names lets other \
                              columns stand beside them";
                return Err(fail(number, reason.into()));
            };
            let worth = sheet.number(price).filter(|price| *price >= 0.0);
            let Some(worth) = worth else {
                let reason = format!(
                    "the price of `{column}` is `{price}`: write a number of at least 0, without a unit"
                );
                return Err(fail(number, reason));
            };
            let further = match further.map(|further| (further, sheet.number(further))) {
                None => None,
                Some((_, Some(further))) => Some(further),
                Some((written, None)) => {
                    let reason = format!(
                        "the price of `{column}` beside others of its panel is `{written}`: write a number \
                         of at least 0, without a unit"
                    );
                    return Err(fail(number, reason));
                }
            };
            let of = Price { column: column.into(), price: worth, panel: panel.map(Into::into), further };
            lines.push(Line { number, of });
        }
        if lines.is_empty() {
            return Err(fail(1, "it has no prices; write a line `attribute,price` for each column".into()));
        }
        Prices { file: Some(file.into()), lines }.checked()
    }

    /// Takes a list of prices.
    ///
    /// ```
    /// use lao::Price;
    ///
    /// assert!(lao::Prices::new(vec![Price::of("age", 0.0), Price::of("scan", 40.0)]).is_ok());
    /// let refused = lao::Prices::new(vec![Price::of("age", -1.0)]).unwrap_err().to_string();
    /// assert_eq!(refused, "column `age`: its price is -1; give a finite number of at least 0");
    /// ```
    ///
    /// # Errors
    /// When the list is empty, a price is negative or not finite, a column has two prices, or the prices of a
    /// panel differ. The message names the column.
    pub fn new(list: Vec<Price>) -> Result<Self, Error> {
        if list.is_empty() {
            let allowed = "give a price for each column".into();
            return Err(Error::Choice { what: "prices", value: "none".into(), allowed });
        }
        Prices { file: None, lines: list.into_iter().map(|of| Line { number: 0, of }).collect() }.checked()
    }

    /// Returns the prices in their order.
    pub fn list(&self) -> impl Iterator<Item = &Price> {
        self.lines.iter().map(|line| &line.of)
    }

    /// Returns the error of a line, which names the line in the file or, without a file, the column.
    fn refused(&self, Line { number, of }: &Line, in_file: String, in_list: String) -> Error {
        match &self.file {
            Some(file) => Error::Table { file: file.clone(), line: *number, reason: in_file },
            None => Error::Column { column: of.column.clone(), reason: in_list },
        }
    }

    /// Checks that the lines agree with one another.
    fn checked(self) -> Result<Self, Error> {
        let (mut columns, mut panels) = (HashMap::new(), HashMap::new());
        for line in &self.lines {
            let Price { column, price, panel, further } = &line.of;
            if !(*price >= 0.0 && price.is_finite()) {
                let reason = format!("its price is {price}; give a finite number of at least 0");
                return Err(self.refused(line, reason.clone(), reason));
            }
            if let Some(other) = columns.insert(column.as_str(), line.number) {
                let in_file = format!("`{column}` has a price in line {other} already; remove one");
                return Err(self.refused(line, in_file, "it has two prices; remove one".into()));
            }
            if let Some(further) = further
                && !(*further >= 0.0 && further <= price && panel.is_some())
            {
                let reason = format!(
                    "`{column}` costs {further} beside others of its panel, and {price} alone; give a panel, \
                     and a number from 0 to {price}"
                );
                return Err(self.refused(line, reason.clone(), reason));
            }
            let Some(panel) = panel else { continue };
            let other: &Line = panels.entry(panel.as_str()).or_insert(line);
            let (fee, other_fee) = (line.of.fee(), other.of.fee());
            if let (Some(fee), Some(other_fee)) = (fee, other_fee)
                && (fee - other_fee).abs() <= 1e-9 * price
            {
                continue;
            }
            if fee.is_some() || other_fee.is_some() {
                let first = &other.of.column;
                let reason = format!(
                    "in the panel `{panel}` the first column costs {} more than another one at `{first}`, \
                     and {} at `{column}`; it must be the same for all columns of the panel",
                    other_fee.unwrap_or(other.of.price),
                    fee.unwrap_or(*price),
                );
                return Err(self.refused(line, reason.clone(), reason));
            }
            if other.of.price != *price {
                let (costs, first) = (other.of.price, &other.of.column);
                let in_file = format!(
                    "the panel `{panel}` costs {price} here and {costs} in line {}; each of its lines has \
                     the price of the whole panel",
                    other.number
                );
                let in_list = format!(
                    "its panel `{panel}` costs {price} here and {costs} at `{first}`; give each column the \
                     price of the whole panel"
                );
                return Err(self.refused(line, in_file, in_list));
            }
        }
        Ok(self)
    }

    /// Returns the tariff of all columns that have a price, in the order of the lines.
    ///
    /// # Errors
    /// None, as long as there are prices.
    pub fn of_all(&self) -> Result<PricedColumns, Error> {
        let columns: Vec<&str> = self.list().map(|price| price.column.as_str()).collect();
        self.of(&columns, &[])
    }

    /// Returns the tariff of attributes that are in these columns, in this order; a column that is named more
    /// than once is bought once. Prices of `others` are allowed and not used.
    ///
    /// # Errors
    /// When a column has no price, or a price is of a column that does not exist, with the nearest name.
    pub fn of(&self, columns: &[&str], others: &[&str]) -> Result<PricedColumns, Error> {
        let prices: HashMap<&str, &Price> = self.list().map(|price| (price.column.as_str(), price)).collect();
        let exist: HashSet<&str> = columns.iter().chain(others).copied().collect();
        if let Some(line) = self.lines.iter().find(|line| !exist.contains(line.of.column.as_str())) {
            let column = &line.of.column;
            let near = nearest(column, columns.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            let in_file = format!("there is no attribute `{column}`{near}; correct or remove the line");
            let price = line.of.price;
            let in_list =
                format!("it has the price {price}, but is no attribute{near}; correct or remove the price");
            return Err(self.refused(line, in_file, in_list));
        }
        // A panel and a column of one name are different things to buy.
        let mut places: HashMap<(bool, &str), u32> = HashMap::new();
        let (mut of_attributes, mut prices_of_panels, mut panels) = (Vec::new(), Vec::new(), Vec::new());
        // The name of each fee, what it is, and the panels that share it.
        let mut fees: Vec<(&str, (f64, Vec<u32>))> = Vec::new();
        for &column in columns {
            let Some(line) = prices.get(column) else {
                let near = nearest(column, self.list().map(|price| price.column.as_str()))
                    .filter(|near| !columns.contains(&near.as_str()));
                let reason = match &self.file {
                    Some(file) => {
                        let near = near.map_or_else(String::new, |near| format!(", but one of `{near}`"));
                        format!("{file} has no price of it{near}; add a line `{column},PRICE`")
                    }
                    None => {
                        let near = near.map_or_else(String::new, |near| format!(", but `{near}` has one"));
                        format!("it has no price{near}; add one, or 0 if it is free")
                    }
                };
                return Err(Error::Column { column: column.into(), reason });
            };
            let of_panel = line.panel.as_deref().filter(|_| line.further.is_none());
            let panel =
                *places.entry((of_panel.is_some(), of_panel.unwrap_or(column))).or_insert_with(|| {
                    prices_of_panels.push(line.further.unwrap_or(line.price));
                    panels.push(of_panel.unwrap_or(column).to_owned());
                    panels.len() as u32 - 1
                });
            of_attributes.push(panel);
            if let (Some(name), Some(fee)) = (&line.panel, line.fee()) {
                let at = fees.iter().position(|(other, _)| other == name).unwrap_or_else(|| {
                    fees.push((name, (fee, Vec::new())));
                    fees.len() - 1
                });
                let of = &mut fees[at].1.1;
                // The attributes of a column are neighbors.
                if of.last() != Some(&panel) {
                    of.push(panel);
                }
            }
        }
        let mut tariff = Tariff::with_panels(of_attributes, prices_of_panels)?;
        if !fees.is_empty() {
            let (names, fees): (Vec<_>, Vec<_>) = fees.into_iter().unzip();
            panels.extend(names.into_iter().map(str::to_owned));
            tariff = tariff.with_fees(&fees)?;
        }
        Ok(PricedColumns { tariff, panels })
    }
}
