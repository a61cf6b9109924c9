"""A whole study in a browser, by its pages alone, as somebody would do it who has only the keyboard.

    python crates/pages/tests/browser.py target/debug/lao [--examples 442] [--pictures FOLDER] [--book]

Needs Chromium with its driver, and the packages selenium and axe-playwright-python (which has axe; `pip
install --no-deps` does without its other half). Without them it says SKIPPED. With --book the pictures of
the book are made anew; the patients that the pages leave over then come by the commands.
Patients are those of data/diabetes.csv.gz. What the pages recorded is compared with what the commands record
of the same patients, line for line. Every kind of page is looked at by axe, at 400 and 1,300 pixels, in light
and dark; nothing that it finds may be more than minor.
"""

import argparse
import base64
import csv
import gzip
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
BOOK = ROOT / "crates/lao/book/src/pictures"
WIDTHS = (400, 1300)


def skipped(why):
    print(f"SKIPPED: {why}")
    sys.exit(0)


try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.common.print_page_options import PrintOptions
except ImportError as error:
    skipped(f"{error}")

AXE = importlib.util.find_spec("axe_playwright_python")
if AXE is None:
    skipped("there is no package axe-playwright-python")
CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
if not CHROMIUM or not DRIVER:
    skipped("there is no chromium with its chromedriver")


class Page:
    """A window of a browser that has no scripts, as the pages need none."""

    def __init__(self, url, pictures, for_book):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=2"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
        self.base = url.split("?")[0]
        self.pictures, self.for_book = pictures, for_book
        self.axe = (pathlib.Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text()
        self.looked = 0
        self.driver.get(url)
        assert "token" not in self.driver.current_url

    def go(self, place=""):
        self.driver.get(self.base + place)
        return self

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "main").text

    def says(self, text):
        assert text in self.text(), f"no `{text}` in\n{self.text()}"
        return self

    def field(self, name):
        return self.driver.find_element(By.NAME, name)

    def type(self, name, text):
        field = self.field(name)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        return self

    def enter(self):
        """Sends the form that has the focus, as the key does."""
        old = self.driver.find_element(By.TAG_NAME, "html")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        for _ in range(1000):
            try:
                old.is_enabled()
            except Exception:  # noqa: BLE001 (the page is gone, whatever the driver calls that)
                return self
        raise AssertionError("no page came")

    def look(self, name):
        """Looks at the page as people do: small and large, by day and by night, and with axe."""
        for width in WIDTHS:
            self.driver.set_window_size(width, 900)
            for scheme in ("light", "dark"):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                wide = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{name}: {wide} pixels wider than {width}"
                self.driver.execute_script(self.axe)
                run = "const done = arguments[0]; axe.run().then(done, error => done({error: String(error)}))"
                found = self.driver.execute_async_script(run)
                bad = [one for one in found["violations"] if one["impact"] != "minor"]
                nodes = [[one["id"], one["help"], [node["html"] for node in one["nodes"]]] for one in bad]
                assert not bad, f"{name}, {width}, {scheme}: {json.dumps(nodes, indent=1)}"
                self.looked += 1
                if self.pictures:
                    self.pictures.mkdir(parents=True, exist_ok=True)
                    self.driver.save_screenshot(str(self.pictures / f"{name}-{width}-{scheme}.png"))
        self.driver.set_window_size(WIDTHS[1], 900)

    def picture(self, name):
        """Makes a picture of the book."""
        if not self.for_book:
            return self
        self.driver.set_window_size(720, 900)
        features = [{"name": "prefers-color-scheme", "value": "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        height = self.driver.execute_script("return document.body.scrollHeight")
        clip = {"x": 0, "y": 0, "width": 720, "height": min(height, 1600), "scale": 0.5}
        taken = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", taken)["data"]
        BOOK.mkdir(exist_ok=True)
        (BOOK / f"{name}.png").write_bytes(base64.b64decode(data))
        self.driver.set_window_size(WIDTHS[1], 900)
        return self

    def sheets(self):
        """Returns the number of sheets of A4 that the page prints on."""
        options = PrintOptions()
        options.page_width, options.page_height = 21.0, 29.7
        return base64.b64decode(self.driver.print_page(options)).count(b"/Type /Page\n")

    def quiet(self):
        """Says that the browser has nothing to complain of, such as what the policy stopped."""
        entries = [one for one in self.driver.get_log("browser") if "favicon" not in one["message"]]
        unwanted = [one for one in entries if "status of" not in one["message"]]
        assert not unwanted, unwanted


def patients():
    with gzip.open(ROOT / "data/diabetes.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def begun(lao, folder, names):
    (folder / "panel.txt").write_text("\n".join(names) + "\n")
    study = folder / "clinic"
    made = ["study", "new", "-S", study, "--target", "progression", "--attributes", folder / "panel.txt"]
    subprocess.run([lao, *made, "--budget", "3"], check=True, stdout=subprocess.DEVNULL)
    return study


def by_commands(lao, study, rows, told):
    def run(*arguments):
        done = [lao, "study", arguments[0], "-S", study, *arguments[1:]]
        return subprocess.run(done, check=True, capture_output=True, text=True).stdout

    for number, row in enumerate(rows, told + 1):
        asked = json.loads(run("ask", "--json", "--name", f"P-{number:03}"))["slots"][0]["attributes"]
        values = [f"{name}={row[name]}" for name in asked]
        run("tell", str(number), *values, f"progression={row['progression']}")


def records(study):
    lines = (study / "journal.jsonl").read_text().splitlines()
    return [json.loads(line)["record"] for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lao", type=pathlib.Path)
    parser.add_argument("--examples", type=int, default=30)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--book", action="store_true")
    arguments = parser.parse_args()
    lao, everybody = arguments.lao.resolve(), patients()
    rows = everybody[: arguments.examples]
    rest = everybody[arguments.examples :] if arguments.book else []
    names = [name for name in rows[0] if name != "progression"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for part in ("pages", "commands"):
            (folder / part).mkdir()
        study = begun(lao, folder / "pages", names)
        server = subprocess.Popen(
            [lao, "study", "serve", "-S", study, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            url = server.stdout.readline().split()[-1]
            looked = in_pages(url, arguments, rows, lambda: by_commands(lao, study, rest, len(rows)))
        finally:
            server.terminate()
        twin = begun(lao, folder / "commands", names)
        by_commands(lao, twin, rows + rest, 0)
        assert records(study) == records(twin), "pages and commands recorded different things"
    print(f"{len(rows)} examples in pages, {looked} looks of axe, and the journal of the commands")


def in_pages(url, arguments, rows, others):
    page, other = (Page(url, arguments.pictures, arguments.book) for _ in range(2))
    page.look("today-first")
    for number, row in enumerate(rows, 1):
        first = number == 1
        page.go().type("name", f"P-{number:03}").enter().says(f"Example {number}, P-{number:03}")
        if first:
            page.picture("slot").look("slot")
            assert page.sheets() == 1, "the sheet of an example has more than one page"
            page.go().picture("today").go("slot/1")
        fields = page.driver.find_elements(By.CSS_SELECTOR, "[name^=name-]")
        asked = [field.get_attribute("value") for field in fields]
        for i, name in enumerate(asked):
            # Some people type a comma.
            page.type(f"value-{i}", row[name].replace(".", ",") if number % 2 else row[name])
        if first:
            other.go(f"slot/{number}").type("value-0", "1").type("value-1", "2").type("value-2", "3")
            page.type("value-0", "4O").enter().says("is no number").look("slot-wrong")
            page.type("value-0", row[asked[0]])
        page.type("label", row["progression"]).enter().says("Is this right?")
        if first:
            page.picture("check").look("check")
        page.enter().says("All of it is recorded")
        if first:
            page.look("told")
            other.type("label", "100").enter().says("somebody else has reported this example").look("twice")
    others()
    if len(rows) > 25:
        page.go("known").says("progression is estimated as").picture("known").look("known")
        page.go("known?sparsity=2&signal=0,5").says("A plan of 2 attributes").look("plan")
    page.go("predict").look("predict")
    fields = page.driver.find_elements(By.CSS_SELECTOR, "[name^=value-]")
    if fields:
        for field in fields:
            field.send_keys("25,5")
        fields[0].send_keys("")
        page.enter().says("What a value adds").look("predicted")
    page.go("files").look("files")
    page.go().look("today")
    page.go("nowhere").look("problem")
    page.driver.delete_all_cookies()
    assert "A token is needed" in page.go().text()
    page.look("token")
    for window in (page, other):
        window.quiet()
        window.driver.quit()
    return page.looked + other.looked


if __name__ == "__main__":
    main()
