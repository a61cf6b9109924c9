//! The catalog: from the name of a dataset to its rows.
//!
//! Files are looked up in three folders: the one that `LAO_DATA` names, the project's own `data/`, and the
//! user's cache. Nothing here uses the network: [`Catalog::to_fetch`] says what is missing, and the crate
//! `lao-fetch` downloads it. A file is checked against its SHA-256 before it is read. Files that are packed
//! by bzip2 or zip need the feature `archives`.

pub mod checksum;
mod error;
mod load;
mod manifest;
mod reading;

pub use checksum::sha256;
pub use error::CatalogError;
pub use load::Loaded;
pub use manifest::{Dataset, FileEntry, Manifest, ManifestError, SplitRule};
pub use reading::{CsvReading, IdxReading, LibsvmReading, NpyReading, Reading};

use reading::OpenFiles;
use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The kind of a folder with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The folder that the environment variable `LAO_DATA` names.
    LaoData,
    /// `data/` in the checkout.
    Project,
    /// The user's cache, where downloads go.
    Cache,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Place::LaoData => "LAO_DATA",
            Place::Project => "data/",
            Place::Cache => "cache",
        })
    }
}

/// The folders that are searched. All have the layout of the manifest's paths.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// The folder that `LAO_DATA` names.
    pub lao_data: Option<PathBuf>,
    /// `data/` in the checkout.
    pub project: Option<PathBuf>,
    /// The folder of downloads.
    pub cache: Option<PathBuf>,
}

impl Folders {
    /// Returns the folders of this process: from `LAO_DATA`, the checkout that built it, and `XDG_CACHE_HOME`
    /// or `HOME`.
    ///
    /// A relative `LAO_DATA` is relative to the working directory or, if it does not exist there, to the
    /// checkout.
    pub fn from_env() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        let project = checkout.join("data");
        Self {
            lao_data: set("LAO_DATA").map(|folder| {
                let other = checkout.join(&folder);
                if folder.is_dir() { folder } else { other.canonicalize().unwrap_or(folder) }
            }),
            project: project.is_dir().then(|| project.canonicalize().unwrap_or(project)),
            cache: cache.map(|folder| folder.join("lao")),
        }
    }

    /// Returns the folders in the order of the search.
    pub fn each(&self) -> impl Iterator<Item = (Place, &Path)> {
        [(Place::LaoData, &self.lao_data), (Place::Project, &self.project), (Place::Cache, &self.cache)]
            .into_iter()
            .filter_map(|(place, folder)| Some((place, folder.as_deref()?)))
    }

    /// Returns a description of the search, for messages.
    pub fn describe(&self) -> String {
        let word = |folder: &Option<PathBuf>| match folder {
            Some(folder) if folder.is_dir() => format!("{}", folder.display()),
            Some(folder) => format!("{}, which does not exist", folder.display()),
            None => "not set".to_owned(),
        };
        let (lao_data, project, cache) = (word(&self.lao_data), word(&self.project), word(&self.cache));
        format!("LAO_DATA ({lao_data}), the project's data folder ({project}), the cache ({cache})")
    }
}

/// A dataset whose files were all found.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// The manifest's entry.
    pub dataset: &'a Dataset,
    /// One file per id.
    pub files: BTreeMap<&'a str, FoundFile<'a>>,
}

/// A file that was found.
#[derive(Debug, Clone)]
pub struct FoundFile<'a> {
    /// The manifest's entry.
    pub entry: &'a FileEntry,
    /// The path of the file.
    pub path: PathBuf,
    /// The kind of the folder that it is in.
    pub place: Place,
}

/// The checksum of a file that passed [`Catalog::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFile {
    /// The file's SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Whether a checksum was known to compare with.
    pub was_compared: bool,
}

/// Datasets by name.
#[derive(Debug, Clone)]
pub struct Catalog {
    manifest: Manifest,
    folders: Folders,
}

impl Catalog {
    /// Returns the catalog of the library's manifest, in this process's folders.
    pub fn from_env() -> Result<Self, CatalogError> {
        Ok(Self::new(Manifest::embedded()?, Folders::from_env()))
    }

    /// Returns the catalog of a manifest, in these folders.
    pub fn new(manifest: Manifest, folders: Folders) -> Self {
        Self { manifest, folders }
    }

    /// Returns all datasets, in the manifest's order.
    pub fn datasets(&self) -> &[Dataset] {
        &self.manifest.datasets
    }

    /// Returns the folders that are searched.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the entry of a name; for an unknown name the error suggests the nearest.
    pub fn dataset(&self, name: &str) -> Result<&Dataset, CatalogError> {
        self.datasets().iter().find(|d| d.name == name).ok_or_else(|| {
            let known = self.datasets().iter().map(|d| d.name.as_str());
            let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), other);
            let nearest = known.min_by_key(|other| distance(other)).unwrap_or("").to_owned();
            CatalogError::UnknownName { name: name.to_owned(), nearest }
        })
    }

    /// Returns whether all files of a dataset are at hand.
    ///
    /// # Errors
    /// Fails when the manifest does not know the dataset, or a file is there and damaged.
    pub fn has(&self, name: &str) -> Result<bool, CatalogError> {
        match self.find(name) {
            Ok(_) => Ok(true),
            Err(CatalogError::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns all files of a dataset. The function compares sizes, not checksums, and never downloads.
    pub fn find(&self, name: &str) -> Result<Found<'_>, CatalogError> {
        let dataset = self.dataset(name)?;
        let mut files = BTreeMap::new();
        for id in dataset.file_ids() {
            let file = self.find_file(dataset, id)?.ok_or_else(|| self.missing(dataset, id))?;
            files.insert(id, file);
        }
        Ok(Found { dataset, files })
    }

    /// Returns the file of an id in the first place that has one of its alternatives.
    fn find_file<'a>(
        &self,
        dataset: &'a Dataset,
        id: &'a str,
    ) -> Result<Option<FoundFile<'a>>, CatalogError> {
        for (place, folder) in self.folders.each() {
            for entry in dataset.alternatives(id) {
                let path = folder.join(&entry.path);
                let Ok(meta) = path.metadata() else { continue };
                if !meta.is_file() {
                    return Err(CatalogError::NotAFile { path });
                }
                return match entry.bytes {
                    Some(expected) if meta.len() != expected => {
                        Err(CatalogError::WrongSize { path, expected, found: meta.len() })
                    }
                    _ => Ok(Some(FoundFile { entry, path, place })),
                };
            }
        }
        Ok(None)
    }

    fn missing(&self, dataset: &Dataset, id: &str) -> CatalogError {
        let name = &dataset.name;
        let entries: Vec<_> = dataset.alternatives(id).collect();
        let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
        let remedy = if entries.iter().any(|entry| !entry.urls.is_empty()) {
            format!("`cargo xtask data fetch {name}` downloads it")
        } else {
            "it has no public address: put the file into one of these folders".to_owned()
        };
        CatalogError::Missing {
            dataset: name.clone(),
            file: paths.join("` or `"),
            searched: self.folders.describe(),
            remedy,
        }
    }

    /// Compares a file with the manifest's checksum, or else with the one recorded at its first download.
    ///
    /// # Errors
    /// Fails when the checksums differ, or the file cannot be read.
    pub fn check(&self, file: &FoundFile<'_>) -> Result<CheckedFile, CatalogError> {
        self.check_open(file, &mut open(file)?)
    }

    /// Does the same as [`check`](Self::check) for an open file, which must be at its beginning.
    fn check_open(&self, file: &FoundFile<'_>, input: &mut File) -> Result<CheckedFile, CatalogError> {
        let fail = |source| CatalogError::Io { path: file.path.clone(), source };
        let found = checksum::sha256_of(input).map_err(fail)?;
        let expected = match &file.entry.sha256 {
            Some(known) => Some(known.clone()),
            None => checksum::recorded(&file.path).map_err(fail)?,
        };
        match expected {
            Some(expected) if expected != found => {
                Err(CatalogError::Checksum { path: file.path.clone(), expected, found })
            }
            expected => Ok(CheckedFile { sha256: found, was_compared: expected.is_some() }),
        }
    }

    /// Returns the files of a dataset that no folder has, each with its place in the cache, where a download
    /// belongs. The files that a folder has are checked.
    ///
    /// # Errors
    /// Fails when a file at hand is damaged, a missing one has no public address, or there is no cache.
    pub fn to_fetch(&self, name: &str) -> Result<Vec<(&FileEntry, PathBuf)>, CatalogError> {
        let dataset = self.dataset(name)?;
        let mut missing = Vec::new();
        for id in dataset.file_ids() {
            if let Some(file) = self.find_file(dataset, id)? {
                self.check(&file)?;
                continue;
            }
            let entry = dataset.alternatives(id).find(|entry| !entry.urls.is_empty());
            let entry = entry.ok_or_else(|| self.missing(dataset, id))?;
            let cache = self.folders.cache.as_ref().ok_or(CatalogError::NoCache)?;
            missing.push((entry, cache.join(&entry.path)));
        }
        Ok(missing)
    }

    /// Finds, checks and reads a dataset. The function never downloads.
    ///
    /// Each file is opened once, so that the bytes that are read are those that were checked.
    pub fn load(&self, name: &str) -> Result<Loaded, CatalogError> {
        let found = self.find(name)?;
        let mut files = BTreeMap::new();
        for (&id, file) in &found.files {
            let mut input = open(file)?;
            self.check_open(file, &mut input)?;
            files.insert(id, (file, input));
        }
        load::load(found.dataset, &OpenFiles { dataset: &found.dataset.name, files })
    }
}

/// Opens a file for reading, and refuses what has become a pipe or device since it was found: it might not
/// end, and could not be read twice.
fn open(file: &FoundFile<'_>) -> Result<File, CatalogError> {
    let fail = |source| CatalogError::Io { path: file.path.clone(), source };
    let input = File::open(&file.path).map_err(fail)?;
    if input.metadata().map_err(fail)?.is_file() {
        Ok(input)
    } else {
        Err(CatalogError::NotAFile { path: file.path.clone() })
    }
}
