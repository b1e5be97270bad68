"""The site: `make docs` builds it, with warnings as errors."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import generate  # noqa: E402

import bayesbias  # noqa: E402

project = "bayesbias"
author = "The bayesbias developers"
copyright = author  # noqa: A001 - the name that Sphinx expects
version = release = bayesbias.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "links"]
exclude_patterns = ["_build", "_templates", "generated/figures", "generated/extra"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"bayesbias {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["generated/extra"]  # sample pages
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
# Notebooks are shown as they were run; a test runs them.
nb_execution_mode = "off"
nb_merge_streams = True
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# The same code of types, in notebooks and in pages without a language.
highlight_language = "text"
suppress_warnings = ["mystnb.unknown_mime_type"]

generate.everything(HERE)
