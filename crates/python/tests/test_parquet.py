"""Tables in Parquet files, read page by page."""

import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from lao_learn import BudgetedClassifier, BudgetedRegressor, ParquetTable

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"x{j}": rng.standard_normal(8_000) for j in range(100)}
    columns["y"] = 2.0 * columns["x7"] - columns["x60"] + rng.standard_normal(8_000)
    columns["sick"] = np.where(columns["y"] > 0.0, "yes", "no")
    path = tmp_path / "wide.parquet"
    pq.write_table(
        pa.table(columns),
        path,
        write_page_index=True,
        use_dictionary=["sick"],
        compression="none",
        data_page_size=400,
        write_batch_size=50,
    )
    return path, columns


def test_a_fit_reads_few_bytes_and_finds_what_matters(wide):
    path, columns = wide
    with pytest.warns(UserWarning, match="`sick`: left out"):
        table = ParquetTable(path, target="y")
    assert table.shape == (8_000, 100)
    assert (table.y == columns["y"]).all()
    model = BudgetedRegressor(budget=8, shape="line", random_state=1).fit(table, table.y)
    assert model.get_feature_names_out().tolist() == ["x7", "x60"]
    assert np.allclose(model.coef_[model.support_], [2.0, -1.0], atol=0.1)
    spent = model.spent_
    assert 0 < spent["bytes"] < 0.25 * spent["bytes_of_table"]
    assert spent["bytes_of_table"] == path.stat().st_size
    frame = np.column_stack([columns[name] for name in table.columns])
    expected = model.intercept_ + frame @ model.coef_
    assert np.abs(model.predict(table) - expected).mean() < 0.01
    # Nothing but numbers is in a model.
    assert pickle.loads(pickle.dumps(model)).predict(frame[:3]).shape == (3,)


def test_two_classes_keep_their_names(wide):
    path, columns = wide
    table = ParquetTable(path, target="sick", drop=["y"])
    assert (table.y == columns["sick"]).all()
    model = BudgetedClassifier(budget=8, random_state=1).fit(table, table.y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.predict(table) == table.y).mean() > 0.75


def test_the_files_of_a_table_are_a_list_or_a_dataset(wide, tmp_path):
    path, columns = wide
    folder = tmp_path / "parts"
    folder.mkdir()
    whole = pq.read_table(path)
    parts = [folder / f"{part}.parquet" for part in "cab"]
    for begin, part in zip((0, 3000, 5000), parts):
        pq.write_table(whole.slice(begin, 3000 if begin == 5000 else 2000 + (begin == 0) * 1000), part)
    dataset = pytest.importorskip("pyarrow.dataset")
    for files in (parts, dataset.dataset([str(part) for part in parts])):
        with pytest.warns(UserWarning):
            table = ParquetTable(files, target="y", drop=["sick"])
        assert (table.y == columns["y"]).all()
    for nothing in ([], 7):
        with pytest.raises(ValueError, match="neither a path, nor a list of paths"):
            ParquetTable(nothing, target="y")


class Files(BaseHTTPRequestHandler):
    """Answers requests for ranges of a file."""

    protocol_version = "HTTP/1.1"
    content = b""

    def do_GET(self):
        begin, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        part = self.content[begin : end + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {begin}-{begin + len(part) - 1}/{len(self.content)}")
        self.send_header("Last-Modified", "Tue, 03 Nov 2026 10:00:00 GMT")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


def test_a_table_on_a_web_server_is_that_on_a_disk(wide):
    path, _ = wide
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Files,), {"content": path.read_bytes()}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/wide.parquet?Signature=hidden"
    models = []
    for place in (path, url):
        table = ParquetTable(place, target="y", drop=["sick"])
        models.append(BudgetedRegressor(budget=8, shape="line", random_state=1).fit(table, table.y))
    assert (models[0].coef_ == models[1].coef_).all()
    assert models[1].spent_["bytes"] < 0.5 * models[1].spent_["bytes_of_table"]
    server.shutdown()
    server.server_close()
    with pytest.raises(OSError, match="this is no URL") as refused:
        ParquetTable("http://somebody:hidden@[/table", target="y")
    assert "hidden" not in str(refused.value)


def test_what_is_no_table_is_said(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="it does not end with PAR1"):
        ParquetTable(path, target="y")
    with pytest.raises(OSError, match="missing.parquet"):
        ParquetTable(tmp_path / "missing.parquet", target="y")
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, None]}), path)
    with pytest.raises(ValueError, match="1 rows have no y"):
        ParquetTable(path, target="y")
