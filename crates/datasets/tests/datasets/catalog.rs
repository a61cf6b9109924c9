//! The catalog finds by name, explains what it does not find, and refuses manifests that contradict
//! themselves.

use lao_datasets::catalog::{Catalog, CatalogError, Folders, Manifest, Place};
use lao_datasets::format::Table;
use lao_observation::Seed;
use std::fs;

const DIGITS: &[u8] = include_bytes!("../../../../data/digits.csv.gz");

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let catalog = Catalog::from_env().unwrap();
    for (name, nearest) in
        [("mnsit", "mnist"), ("Digits", "digits"), ("ctslice", "ct-slice"), ("blogfeedback", "blog-feedback")]
    {
        let text = catalog.load(name).unwrap_err().to_string();
        assert!(
            text.contains(&format!("`{name}`")) && text.contains(&format!("did you mean `{nearest}`")),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_at_hand_is_explained() {
    let catalog = Catalog::new(Manifest::embedded().unwrap(), Folders::default());
    let reason = |name| catalog.find(name).unwrap_err().to_string();
    for part in ["`mnist`", "mnist/t", "LAO_DATA (not set)", "`cargo xtask data fetch mnist`"] {
        assert!(reason("mnist").contains(part), "{}", reason("mnist"));
    }
    assert!(reason("w8a").contains("`libsvm/w8a.bz2` or `libsvm/w8a`"), "{}", reason("w8a"));
    assert!(reason("ct-slice-sample").contains("put the file into one of these folders"));
}

#[test]
fn the_first_place_that_has_a_file_wins() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = |dir: &tempfile::TempDir| Some(dir.path().to_owned());
    let folders = Folders { lao_data: folder(&first), project: None, cache: folder(&second) };
    let catalog = Catalog::new(Manifest::embedded().unwrap(), folders);
    assert!(matches!(catalog.find("digits"), Err(CatalogError::Missing { .. })));
    fs::write(second.path().join("digits.csv.gz"), DIGITS).unwrap();
    assert_eq!(catalog.find("digits").unwrap().files["all"].place, Place::Cache);
    fs::write(first.path().join("digits.csv.gz"), DIGITS).unwrap();
    assert_eq!(catalog.find("digits").unwrap().files["all"].place, Place::LaoData);
    fs::write(first.path().join("digits.csv.gz"), &DIGITS[..1000]).unwrap();
    let text = catalog.load("digits").unwrap_err().to_string();
    assert!(
        text.contains("1000 bytes") && text.contains("53593") && text.contains("fetch it again"),
        "{text}"
    );
}

#[test]
fn rows_that_the_manifest_does_not_describe_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("digits.csv.gz"), DIGITS).unwrap();
    let mut manifest = Manifest::embedded().unwrap();
    manifest.datasets.retain(|dataset| dataset.name == "digits");
    manifest.datasets[0].rows = 1800;
    let folders = Folders { lao_data: Some(folder.path().to_owned()), ..Folders::default() };
    let text = Catalog::new(manifest, folders).load("digits").unwrap_err().to_string();
    assert!(text.contains("`digits`") && text.contains("1797") && text.contains("1800"), "{text}");
}

#[test]
fn a_named_seed_splits_the_rows_as_the_manifest_says() {
    let digits = Catalog::from_env().unwrap().load("digits").unwrap();
    let seed = Seed::root(1).child("split");
    let split = digits.clone().into_train_test(&seed).unwrap();
    assert_eq!((split.train.rows(), split.test.rows()), (1348, 449));
    assert_eq!(digits.into_train_test(&seed).unwrap(), split);
}

#[test]
fn a_manifest_that_contradicts_itself_is_refused() {
    let entry = r#"
        [[dataset]]
        name = "tiny"
        title = "t"
        rows = 3
        features = 3
        target = "t"
        license = "l"
        source = "s"
        split = { rule = "random", test_fraction = 0.5 }
        train = { format = "libsvm", file = "all" }
        [[dataset.file]]
        id = "all"
        path = "sub/tiny"
    "#;
    Manifest::parse(entry).unwrap();
    let twice = format!("{entry}{entry}");
    for (text, part) in [
        (twice.as_str(), "occurs twice"),
        (&entry.replace("id = \"all\"", "id = \"other\""), "no file has the id `all`"),
        (&entry.replace("sub/tiny", "../tiny"), "below the data folder"),
        (&entry.replace("sub/tiny", "/tiny"), "below the data folder"),
        (&entry.replace("0.5", "1.5"), "test_fraction is 1.5"),
        (&entry.replace("rule = \"random\", test_fraction = 0.5", "rule = \"given\""), "needs a test set"),
        (&format!("{entry}sha256 = \"ABC\""), "sha256 `ABC`"),
        (&entry.replace("license", "licenses"), "unknown field `licenses`"),
        (&entry.replace("libsvm", "parquet"), "parquet"),
    ] {
        let error = Manifest::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("digits.csv.gz");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let folders = Folders { lao_data: Some(folder.path().to_owned()), ..Folders::default() };
    let catalog = Catalog::new(Manifest::embedded().unwrap(), folders);
    let text = catalog.load("digits").unwrap_err().to_string();
    assert!(text.contains("digits.csv.gz is no regular file") && text.contains("put a file there"), "{text}");
}

#[test]
fn paths_of_a_manifest_stay_below_the_data_folder_on_every_system() {
    let manifest = |path: &str| {
        format!(
            "[[dataset]]\nname = 'x'\ntitle = ''\nrows = 1\nfeatures = 1\ntarget = ''\nlicense = ''\n\
             source = ''\nsplit = {{ rule = 'random', test_fraction = 0.5 }}\n\
             train = {{ format = 'libsvm', file = 'a', zero_based = true }}\n\
             [[dataset.file]]\nid = 'a'\npath = '{path}'\n"
        )
    };
    Manifest::parse(&manifest("folder/file")).unwrap();
    for path in ["/etc/passwd", "../x", "a/../../x", "", "a//b", "..\\x", "C:\\x", "C:x", "./x", "a/.."] {
        let text = Manifest::parse(&manifest(path)).unwrap_err().to_string();
        assert!(text.contains("must stay below the data folder"), "{path}: {text}");
    }
}

/// An NPY file of small whole numbers.
fn npy(shape: &str, payload: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    [b"\x93NUMPY\x01\x00".as_slice(), &[header.len() as u8, 0], header.as_bytes(), payload].concat()
}

/// Loads a dataset of two rows and two attributes whose table is read so, or says why not.
fn load_npy(folder: &std::path::Path, train: &str, ids: &[&str]) -> Result<Table, String> {
    let file = |id: &&str| format!("[[dataset.file]]\nid = \"{id}\"\npath = \"{id}.npy\"\n");
    let text = format!(
        "[[dataset]]\nname = \"n\"\ntitle = \"t\"\nrows = 2\nfeatures = 2\ntarget = \"y\"\nlicense = \"l\"\n\
         source = \"s\"\nsplit = {{ rule = \"random\", test_fraction = 0.5 }}\ntrain = {train}\n{}",
        ids.iter().map(file).collect::<String>()
    );
    let manifest = Manifest::parse(&text).map_err(|error| error.to_string())?;
    let folders = Folders { lao_data: Some(folder.to_owned()), ..Folders::default() };
    let loaded = Catalog::new(manifest, folders).load("n").map_err(|error| error.to_string())?;
    Ok(loaded.train)
}

#[test]
fn a_dataset_may_be_an_array_with_its_labels_beside_it_or_in_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    put("x.npy", npy("(2, 2)", &[1, 2, 3, 4]));
    put("y.npy", npy("(2,)", &[5, 6]));
    put("xy.npy", npy("(2, 3)", &[1, 2, 5, 3, 4, 6]));
    put("yx.npy", npy("(2, 3)", &[5, 1, 2, 6, 3, 4]));
    for (train, ids) in [
        (r#"{ format = "npy", file = "x", labels = "y" }"#, &["x", "y"][..]),
        (r#"{ format = "npy", file = "xy" }"#, &["xy"]),
        (r#"{ format = "npy", file = "yx", target = 0 }"#, &["yx"]),
        (r#"{ format = "npy", file = "yx", target = { last = 2 } }"#, &["yx"]),
    ] {
        let table = load_npy(folder.path(), train, ids).unwrap();
        let table = table.dense().unwrap();
        assert_eq!(
            (table.values(), &table.labels[..]),
            (&[1.0, 3.0, 2.0, 4.0][..], &[5.0, 6.0][..]),
            "{train}"
        );
    }
}

#[test]
fn what_is_wrong_with_an_array_or_its_entry_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    put("x.npy", npy("(2, 2)", &[1, 2, 3, 4]));
    put("y.npy", npy("(3,)", &[5, 6, 7]));
    put("cut.npy", npy("(2, 3)", &[1, 2]));
    for (train, ids, says) in [
        (r#"{ format = "npy", file = "x", labels = "y" }"#, &["x", "y"][..], "3 labels for 2 rows"),
        (r#"{ format = "npy", file = "x", labels = "y", target = 0 }"#, &["x", "y"], "give one"),
        (r#"{ format = "npy", file = "x", labels = "z" }"#, &["x"], "no file has the id `z`"),
        (r#"{ format = "npy", file = "x" }"#, &["x"], "features is 1, not the manifest's 2"),
        (r#"{ format = "npy", file = "x", target = 2 }"#, &["x"], "columns 0..=1"),
        (r#"{ format = "npy", file = "x", target = "age" }"#, &["x"], "give its index"),
        (r#"{ format = "npy", file = "x", options = 1 }"#, &["x"], "options"),
        (r#"{ format = "npz", file = "x" }"#, &["x"], "npz"),
        (r#"{ format = "npy", file = "cut" }"#, &["cut"], "cut off"),
        (r#"{ format = "npy", file = "x", member = "x" }"#, &["x"], "features is 1"),
    ] {
        let error = load_npy(folder.path(), train, ids).unwrap_err();
        assert!(error.contains(says), "{train} should say `{says}`, but says: {error}");
    }
}
