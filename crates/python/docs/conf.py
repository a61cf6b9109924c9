"""Settings of Sphinx: `cargo xtask docs` builds the site, and this part of it by `python -m sphinx`."""

import lao_learn

project = "lao-learn"
author = "The lao authors"
version = release = lao_learn.__version__
extensions = ["numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["**/*.ipynb"]
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
html_theme = "pydata_sphinx_theme"
html_title = "lao-learn"
html_theme_options = {"navbar_end": ["theme-switcher"], "show_toc_level": 2}
html_sidebars = {"index": []}
html_show_sourcelink = False
# The pictures come from runs of the examples.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
}
