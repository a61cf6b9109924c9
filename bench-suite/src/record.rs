//! Records of runs: their rows, and the circumstances of the run.

use crate::row::Row;
use crate::scenario::Scenario;
use crate::tier::{BenchTier, Size};
use anyhow::{Context as _, ensure};
use lao_files::OutputFolder;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The files of a record: the rows of all runs, and the last run.
pub(crate) const TABLES: [&str; 2] = ["records.csv", "records.json"];

/// The record of a run of one scenario, from which the page is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchRecord {
    /// Name of the scenario.
    pub scenario: String,
    /// The scenario's definition.
    pub definition: String,
    /// The tier that ran.
    pub tier: BenchTier,
    /// The sizes of the tier.
    pub size: Size,
    /// Root seed.
    pub seed: u64,
    /// The program, the machine and the time of the run.
    pub provenance: Provenance,
    /// Other programs on which the measurements depend, with their versions and limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub software: Vec<String>,
    /// Duration of the whole run, in seconds.
    pub seconds: f64,
    /// The measurements, in the order of repetitions and learners.
    pub rows: Vec<Row>,
}

/// The program, the machine and the time of a run. The times of two records whose provenance differs are not
/// comparable without further thought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Start of the run, in seconds since 1970 (UTC).
    pub started: u64,
    /// Version of the suite.
    pub version: String,
    /// Commit of the checkout, `-dirty` if files differ from it; `unknown` outside a checkout.
    pub revision: String,
    /// Architecture, operating system and number of processors.
    pub host: String,
    /// Model of the processor, or `unknown` where it cannot be determined.
    pub processor: String,
    /// The instruction sets for which the program was compiled, among those that change its speed.
    pub features: String,
}

impl Provenance {
    /// Returns the provenance of a run that this program starts now.
    pub fn now() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Provenance {
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
            version: env!("CARGO_PKG_VERSION").into(),
            revision: revision().unwrap_or_else(|| "unknown".into()),
            host: format!("{} {}, {processors} processors", std::env::consts::ARCH, std::env::consts::OS),
            processor: processor().unwrap_or_else(|| "unknown".into()),
            features: features(),
        }
    }
}

fn revision() -> Option<String> {
    let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let git = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(describe).output().ok()?;
    let text = String::from_utf8(git.stdout).ok().filter(|_| git.status.success())?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn processor() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?;
    Some(brand.as_str().trim().to_owned())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn processor() -> Option<String> {
    None
}

fn features() -> String {
    let known = [
        (cfg!(target_feature = "sse2"), "sse2"),
        (cfg!(target_feature = "avx2"), "avx2"),
        (cfg!(target_feature = "fma"), "fma"),
        (cfg!(target_feature = "avx512f"), "avx512f"),
        (cfg!(target_feature = "neon"), "neon"),
    ];
    let present: Vec<&str> = known.into_iter().filter_map(|(is, name)| is.then_some(name)).collect();
    present.join(" ")
}

/// One line of `records.csv`: a row with its provenance.
#[derive(Serialize)]
struct Line<'a> {
    started: u64,
    version: &'a str,
    revision: &'a str,
    host: &'a str,
    processor: &'a str,
    features: &'a str,
    tier: BenchTier,
    seed: u64,
    scenario: &'a str,
    learner: &'a str,
    repetition: u64,
    dim: usize,
    examples: u64,
    metric: &'a str,
    value: Option<f64>,
    error: Option<&'a str>,
}

impl BenchRecord {
    /// Returns a record without rows of a run that starts now.
    pub fn new(scenario: &Scenario, tier: BenchTier, seed: u64) -> Self {
        BenchRecord {
            scenario: scenario.name.clone(),
            definition: scenario.text.clone(),
            tier,
            size: scenario.tiers.size(tier),
            seed,
            provenance: Provenance::now(),
            software: Vec::new(),
            seconds: 0.0,
            rows: Vec::new(),
        }
    }

    /// Writes `records.json` and appends the rows to `records.csv` in the scenario's subfolder. Each file is
    /// replaced atomically.
    ///
    /// # Errors
    /// When the folder or the disk refuses, or the table there has other columns.
    pub fn write(&self, folder: &mut OutputFolder) -> anyhow::Result<()> {
        let [csv, json] = TABLES.map(|name| format!("{}/{name}", self.scenario));
        let mut table = earlier(&folder.path().join(&csv))?;
        table.extend(self.lines(table.is_empty())?);
        folder.announce([csv.clone(), json.clone()])?;
        folder.write(&csv, &table)?;
        folder.write(&json, &serde_json::to_vec_pretty(self)?)
    }

    /// Returns the rows as lines of `records.csv`, with or without the header.
    fn lines(&self, names: bool) -> anyhow::Result<Vec<u8>> {
        let Provenance { started, version, revision, host, processor, features } = &self.provenance;
        let mut writer = csv::WriterBuilder::new().has_headers(names).from_writer(Vec::new());
        for row in &self.rows {
            writer.serialize(Line {
                started: *started,
                version,
                revision,
                host,
                processor,
                features,
                tier: self.tier,
                seed: self.seed,
                scenario: &row.scenario,
                learner: &row.learner,
                repetition: row.repetition,
                dim: row.dim,
                examples: row.examples,
                metric: &row.metric,
                value: row.value,
                error: row.error.as_deref(),
            })?;
        }
        writer.into_inner().context("cannot form records.csv")
    }

    /// Reads `records.json` from `folder`; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read or is not a record of this version.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("records.json");
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let record = serde_json::from_slice(&text);
        Ok(Some(record.with_context(|| {
            format!("{} is not a record of this version: delete it and run again", path.display())
        })?))
    }

    /// Returns the rows that are errors.
    pub fn failures(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.error.is_some())
    }
}

/// The names of the columns of `records.csv`.
const COLUMNS: &str = "started,version,revision,host,processor,features,tier,seed,\
                       scenario,learner,repetition,dim,examples,metric,value,error";

/// Returns the table of earlier runs, which is empty if there is none.
///
/// # Errors
/// When the table cannot be read, or its columns are not those of this version.
pub(crate) fn earlier(path: &Path) -> anyhow::Result<Vec<u8>> {
    let table = match std::fs::read(path) {
        Ok(table) => table,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let first = table.split(|&byte| byte == b'\n').next().unwrap_or_default();
    ensure!(
        table.is_empty() || (first == COLUMNS.as_bytes() && table.ends_with(b"\n")),
        "{}: this version appends to tables with the columns {COLUMNS}; move the file away, or choose \
         another folder with --out",
        path.display()
    );
    Ok(table)
}
