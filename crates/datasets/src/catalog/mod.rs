//! From the name of a dataset to its rows.
//!
//! Files are looked up in four places: the folder named by `LAO_DATA`, the project's own `data/`, the user's
//! cache, and, only when asked by `Catalog::fetch`, the official address. [`Catalog::find`] and
//! [`Catalog::load`] never touch the network. A file is checked against its SHA-256 before it is read.
//! `Catalog::fetch` needs the feature `download`, and files packed by bzip2 or zip are read with the feature
//! `archives`.

mod checksum;
mod error;
#[cfg(feature = "download")]
mod fetch;
mod load;
mod manifest;
mod reading;

pub use checksum::sha256;
pub use error::CatalogError;
#[cfg(feature = "download")]
pub use fetch::DownloadProgress;
pub use load::Loaded;
pub use manifest::{Dataset, FileEntry, Manifest, ManifestError, SplitRule};
pub use reading::{CsvReading, IdxReading, LibsvmReading, NpyReading, Reading};

use reading::OpenFiles;
use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Which of the places a folder is.
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

/// The folders to look in. All have one layout, that of the manifest's paths.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// What `LAO_DATA` names.
    pub lao_data: Option<PathBuf>,
    /// `data/` in the checkout.
    pub project: Option<PathBuf>,
    /// Where downloads go.
    pub cache: Option<PathBuf>,
}

impl Folders {
    /// Returns the folders of this process: from `LAO_DATA`, the checkout that built it, and `XDG_CACHE_HOME`
    /// or `HOME`.
    ///
    /// A relative `LAO_DATA` counts from the working directory or, if there is nothing, from the checkout.
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

    /// Returns the search in words, for messages.
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

/// A dataset whose files are all at hand.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// The manifest's entry.
    pub dataset: &'a Dataset,
    /// One file per id.
    pub files: BTreeMap<&'a str, FoundFile<'a>>,
}

/// A file at hand.
#[derive(Debug, Clone)]
pub struct FoundFile<'a> {
    /// The manifest's entry.
    pub entry: &'a FileEntry,
    /// Where it lies.
    pub path: PathBuf,
    /// In which of the places.
    pub place: Place,
}

/// Datasets by name.
#[derive(Debug, Clone)]
pub struct Catalog {
    manifest: Manifest,
    folders: Folders,
}

impl Catalog {
    /// Returns the library's manifest and this process's folders.
    pub fn from_env() -> Result<Self, CatalogError> {
        Ok(Self::new(Manifest::embedded()?, Folders::from_env()))
    }

    /// Returns a catalog of one's own.
    pub fn new(manifest: Manifest, folders: Folders) -> Self {
        Self { manifest, folders }
    }

    /// Returns all datasets, in the manifest's order.
    pub fn datasets(&self) -> &[Dataset] {
        &self.manifest.datasets
    }

    /// Returns where this catalog looks.
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

    /// Returns the files of a dataset, all of them, or the reason why not. Compares sizes, not checksums;
    /// never downloads.
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
    /// Returns the checksum and whether there was one to compare with.
    pub fn check(&self, file: &FoundFile<'_>) -> Result<(String, bool), CatalogError> {
        self.check_open(file, &mut open(file)?)
    }

    /// Does the same for a file that is open already and stands at its beginning.
    fn check_open(&self, file: &FoundFile<'_>, input: &mut File) -> Result<(String, bool), CatalogError> {
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
            Some(_) => Ok((found, true)),
            None => Ok((found, false)),
        }
    }

    /// Downloads what is not at hand of a dataset into the cache, checked. Only this function touches the
    /// network.
    ///
    /// Needs the feature `download`.
    #[cfg(feature = "download")]
    pub fn fetch(&self, name: &str, progress: &mut dyn DownloadProgress) -> Result<Found<'_>, CatalogError> {
        let dataset = self.dataset(name)?;
        for id in dataset.file_ids() {
            if let Some(file) = self.find_file(dataset, id)? {
                self.check(&file)?;
                continue;
            }
            let entry = dataset.alternatives(id).find(|entry| !entry.urls.is_empty());
            let entry = entry.ok_or_else(|| self.missing(dataset, id))?;
            let cache = self.folders.cache.as_ref().ok_or(CatalogError::NoCache)?;
            fetch::fetch(entry, &cache.join(&entry.path), progress)?;
        }
        self.find(name)
    }

    /// Finds, checks and reads a dataset. Never downloads.
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

/// Opens a file for reading; what became a pipe or device since it was found would not end, or not be there
/// twice.
fn open(file: &FoundFile<'_>) -> Result<File, CatalogError> {
    let fail = |source| CatalogError::Io { path: file.path.clone(), source };
    let input = File::open(&file.path).map_err(fail)?;
    if input.metadata().map_err(fail)?.is_file() {
        Ok(input)
    } else {
        Err(CatalogError::NotAFile { path: file.path.clone() })
    }
}
