"""How Sphinx builds these pages: ``sphinx-build -W --keep-going -b html docs docs/_build/html``."""

import sys
from pathlib import Path

import matplotlib

import hssvm

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parents[1]))  # some figures import benchmarks

project = "hssvm"
author = copyright = "The hssvm developers"
version = release = hssvm.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # readers need no network
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"
highlight_language = "none"
smartquotes = False  # quotes in messages and options stay as they are typed
modindex_common_prefix = ["hssvm."]

# The names of parameters in docstrings (`X`, `tol`) are not objects of their own.
suppress_warnings = ["config.cache", "ref.python"]

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it, and shapes too
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = [("png", 200)]
plot_html_show_formats = plot_html_show_source_link = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "subsection_order": [f"../examples/{name}" for name in ("basics", "real_data", "method")],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "capture_repr": (),
    "thumbnail_size": (880, 560),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "hssvm"
html_static_path = ["_static"]
html_css_files = ["hssvm.css"]
html_show_sourcelink = False
html_copy_source = False
# Both tables of contents on the left leave the width of the page to code and tables.
html_sidebars = {
    "*": ["sidebar-nav-bs", "page-toc"],
    "benchmarks/*": ["sidebar-nav-bs", "page-toc"],
    "gallery/**": ["sidebar-nav-bs"],
    "generated/*": ["sidebar-nav-bs"],
    "guide/*": ["sidebar-nav-bs", "page-toc"],
    "api": ["sidebar-nav-bs"],
    "get_started": ["page-toc"],
    "index": [],
}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
