use super::*;

const VERB: &str = "verify";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

#[track_caller]
fn refused(root: &Path, says: &[&str]) {
    let error = format!("{:#}", OutputFolder::open(root, VERB).unwrap_err());
    for part in says {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

/// Returns every file below a folder with its content.
fn snapshot(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(snapshot(&entry.path())),
            false => found.push((entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn only_what_was_written_is_replaced_or_removed() {
    let root = tempfile::tempdir().unwrap();
    let mut folder = OutputFolder::open(root.path(), VERB).unwrap();
    folder.announce(names(&["claims/a.json", "page.html"])).unwrap();
    folder.write("claims/a.json", b"1").unwrap();
    folder.write("page.html", b"2").unwrap();
    drop(folder);
    fs::write(root.path().join("claims/mine.json"), "mine").unwrap();

    let mut folder = OutputFolder::open(root.path(), VERB).unwrap();
    folder.remove(|name| name.starts_with("claims/")).unwrap();
    assert!(!root.path().join("claims/a.json").exists());
    assert_eq!(fs::read(root.path().join("claims/mine.json")).unwrap(), b"mine");
    folder.announce(names(&["page.html"])).unwrap();
    folder.write("page.html", b"3").unwrap();
    let error = folder.announce(names(&["claims/mine.json"])).unwrap_err().to_string();
    assert!(error.contains("mine.json") && error.contains("--out"), "{error}");
    assert!(folder.write("claims/mine.json", b"4").is_err());
    assert_eq!(fs::read(root.path().join("claims/mine.json")).unwrap(), b"mine");
}

#[test]
fn a_folder_with_other_files_is_refused_and_not_touched() {
    for file in ["notes.txt", "claims/deep/mine.rs", "run.json"] {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let before = snapshot(root.path());
        refused(root.path(), &["did not write", path.file_name().unwrap().to_str().unwrap(), "--out"]);
        assert_eq!(before, snapshot(root.path()));
    }
}

#[test]
fn folders_without_files_and_missing_ones_are_taken() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("a/b")).unwrap();
    OutputFolder::open(root.path(), VERB).unwrap();
    OutputFolder::open(&root.path().join("x/y"), VERB).unwrap();
}

#[test]
fn a_second_run_is_told_who_has_the_folder_until_it_ends() {
    let root = tempfile::tempdir().unwrap();
    let first = OutputFolder::open(root.path(), VERB).unwrap();
    let before = snapshot(root.path());
    refused(root.path(), &["in use", &format!("process {}", std::process::id()), "ago"]);
    assert_eq!(before, snapshot(root.path()));
    drop(first);
    OutputFolder::open(root.path(), VERB).unwrap();
}

#[test]
fn folders_of_other_verbs_and_damaged_lists_are_refused() {
    let root = tempfile::tempdir().unwrap();
    drop(OutputFolder::open(root.path(), "bench").unwrap());
    refused(root.path(), &["cargo xtask bench", "--out"]);
    for list in
        ["", "{}", r#"{"verb":"verify","files":["../x"]}"#, r#"{"verb":"verify","files":[".lao-lock"]}"#]
    {
        fs::write(root.path().join(LIST), list).unwrap();
        refused(root.path(), &[LIST, "--out"]);
    }
}

#[test]
fn names_stay_inside_of_the_folder() {
    let root = tempfile::tempdir().unwrap();
    let mut folder = OutputFolder::open(root.path(), VERB).unwrap();
    for name in ["../x", "/x", "a/../../x", "", ".", ".lao-lock", "a/.lao-output", "a\\..\\x"] {
        assert!(folder.announce(names(&[name])).is_err(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_under_a_listed_name_is_neither_followed_nor_removed() {
    let root = tempfile::tempdir().unwrap();
    let mine = root.path().join("mine.txt");
    let mut folder = OutputFolder::open(&root.path().join("out"), VERB).unwrap();
    folder.announce(names(&["page.html"])).unwrap();
    fs::write(&mine, "mine").unwrap();
    std::os::unix::fs::symlink(&mine, folder.path().join("page.html")).unwrap();
    assert!(folder.announce(names(&["page.html"])).is_err());
    folder.remove(|_| true).unwrap();
    assert!(folder.path().join("page.html").is_symlink());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
}

#[test]
fn what_a_killed_run_left_half_written_is_cleared() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(".lao-Abc123.tmp"), "half").unwrap();
    let folder = OutputFolder::open(root.path(), VERB).unwrap();
    assert!(!folder.path().join(".lao-Abc123.tmp").exists());
}
