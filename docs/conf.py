# SPDX-License-Identifier: MIT
"""How Sphinx makes the site. `make docs` runs it; tools/check_site.py checks the pages."""

import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import sbs

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Spherical blend skinning"
author = "the authors of sbs"
copyright = "MIT"  # noqa: A001  the name is Sphinx's
version = release = sbs.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "headers",
    "mathml",
]
exclude_patterns = ["README.md", "requirements.txt"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
# A page that is included has its own title.
suppress_warnings = ["myst.header"]

autodoc_mock_imports = ["torch"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what the arguments are, and of which shape
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"sbs {release}"
html_static_path = ["_static"]
# What tools/wasm_page.py made for the first page: the library as WebAssembly, and two characters.
html_extra_path = ["../build/page"]
html_copy_source = False
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_theme_options = {"top_of_page_buttons": []}
copybutton_prompt_text = ">>> "

SEARCHED = {
    "blender": ("add-on",),
    "methods": ("lbs", "sbs", "linear blend skinning"),
    "methods#dual-quaternions": ("dqs", "dual quaternion", "preserve volume"),
    "twist": ("candy wrapper",),
    "twist#across-joints": ("smooth twist", "half twist"),
}
"""Words by which the search finds a page or a section first, before symbols that have them in their names."""


def add_searched_words(app: Sphinx, doctree: nodes.document) -> None:
    """Let the search find the page by its name, and by words of its own."""
    name = app.env.docname
    for place, words in [(name, (name.replace("_", " "),)), *SEARCHED.items()]:
        page, _, section = place.partition("#")
        if page == name:
            doctree.insert(0, addnodes.index(entries=[("single", word, section, "main", None) for word in words]))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", add_searched_words)
