//! Model files of each release: this version reads them, and predicts the same digits.
//!
//! A folder of `goldens/` is a release, and has what its `lao fit` wrote of the tables in `data/`, and the
//! first lines of its `lao predict`. Folders are added, and never changed.

use crate::command::lao;
use std::fs;
use std::path::Path;

#[test]
fn models_of_each_release_predict_what_they_did() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for release in fs::read_dir(here.join("tests/goldens")).unwrap() {
        for file in fs::read_dir(release.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let Some(stem) = path.to_str().unwrap().strip_suffix(".lao.json") else { continue };
            let wanted = fs::read_to_string(format!("{stem}.csv")).unwrap();
            let table = if wanted.contains("class") { "digits.csv.gz" } else { "diabetes.csv.gz" };
            let table = here.join("../../data").join(table);
            let (status, told, said) =
                lao(here, &["predict", path.to_str().unwrap(), table.to_str().unwrap()]);
            assert_eq!((status, said.as_str()), (0, ""), "{stem}");
            assert!(wanted.lines().count() == 41 && told.starts_with(&wanted), "{stem}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
