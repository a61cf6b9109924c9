//! Tables on a web server: read whole and page by page, they give the models that files on a disk give.

#[path = "../../parquet/tests/remote/server.rs"]
#[allow(dead_code)]
mod server;

use lao::{Fit, Model, ReadOptions};
use lao_parquet::{Writing, write};
use server::{Fault, Server};
use std::path::Path;

const ROWS: u32 = 3000;

/// A table of 60 columns, two of which determine `y`, in pages of 30 rows.
fn table() -> Vec<u8> {
    let value = |i: u32, j: u32| f64::from(i.wrapping_mul(2 * j + 977) % 641) / 641.0;
    let column = |j: u32| (0..ROWS).map(|i| value(i, j)).collect::<Vec<f64>>();
    let mut columns: Vec<(String, Vec<f64>)> = (0..60).map(|j| (format!("c{j}"), column(j))).collect();
    let label = |i: u32| value(i, 8) - 2.0 * value(i, 31) + 0.1 * value(i, 70);
    columns.push(("y".into(), (0..ROWS).map(label).collect()));
    let columns: Vec<_> = columns.iter().map(|(name, x)| (&name[..], x.into())).collect();
    let mut bytes = Vec::new();
    write(&mut bytes, "table", &columns, &Writing { page: 30, ..Writing::default() }).unwrap();
    bytes
}

/// Returns what a fit page by page and a fit of the whole table learn.
fn models(path: &str) -> [String; 2] {
    let options = ReadOptions::default();
    let by_page = Fit::within(6).run(&lao::open(path, &options).unwrap().target("y").unwrap()).unwrap();
    let whole = Fit::within(6).run(&lao::read(path).unwrap().target("y").unwrap()).unwrap();
    let json = |mut model: Model| {
        model.origin.table.clear();
        model.spent.traffic = None;
        model.to_json()
    };
    [json(by_page.model), json(whole.model)]
}

#[test]
fn a_table_on_a_web_server_is_that_on_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        models(path.to_str().unwrap())
    };
    let bytes = table();
    let server = Server::start(&[("table.parquet", &bytes)], |n| match n % 19 {
        7 => Fault::Busy,
        _ => Fault::None,
    });
    let expected = on_disk("table.parquet", &bytes);
    assert_ne!(expected[0], expected[1]);
    assert_eq!(models(&format!("{}/table.parquet", server.address)), expected);
}

#[test]
fn a_run_over_a_network_reads_a_part_and_keeps_the_query_to_itself() {
    let bytes = table();
    let server = Server::start(&[("table.parquet", &bytes)], |_| Fault::None);
    let url = format!("{}/table.parquet?Signature=hidden", server.address);
    let examples = lao::open(&url, &ReadOptions::default()).unwrap().target("y").unwrap();
    let model = Fit::within(6).run(&examples).unwrap().model;
    assert!(["c8", "c31"].iter().all(|column| model.columns().contains(column)));
    let traffic = model.spent.traffic.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    std::fs::write(&path, &bytes).unwrap();
    let on_disk = lao::open(path, &ReadOptions::default()).unwrap().target("y").unwrap();
    let on_disk = Fit::within(6).run(&on_disk).unwrap().model.spent.traffic.unwrap();
    assert!(traffic.of == bytes.len() as u64 && traffic.bytes < traffic.of / 2, "{traffic}");
    // What is requested early is what is bought, and the blocks until the next decision share requests.
    assert!(traffic.bytes < on_disk.bytes * 8 / 5, "{traffic}, and on disk {on_disk}");
    assert!(traffic.requests < on_disk.requests * 7 / 10, "{traffic}, and on disk {on_disk}");
    assert!(!model.to_json().contains("hidden") && model.to_json().contains("table.parquet"));
    let examples = lao::read(&url).unwrap().target("y").unwrap();
    let model = Fit::within(6).run(&examples).unwrap().model;
    assert!(!model.to_json().contains("hidden"));
    assert!(!Path::new(&model.origin.table).exists());
}
