"""How ``make docs`` builds the site: Sphinx reads the repository from its root, so that links are those on disk."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Notebooks call the command of this environment, whether or not it is active.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

project = "mcquack"
author = "The mcquack developers"
copyright = "the mcquack developers, Apache License 2.0"
release = version = installed_version("mcquack")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
    "reference",
    "reports",
]

# The source folder is the root of the repository, where the studies and the change log live as well.
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "studies/*/README.md",
    "benchmarks/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/_*/**", ".*", "build", "dist", "src", "tests"]
nitpicky = True

# A link to a heading is its text in small letters, as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_links_external_new_tab = False

# Notebooks run in full at every build, in a folder of their own, and an error is a warning, which ends it.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 180
nb_execution_show_tb = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "mcquack"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # a page from a folder may not fetch the pages that it found
html_theme_options = {
    "logo": {"text": "mcquack"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}
# Pages that have no section around them would show an empty list of its pages.
html_sidebars = {f"docs/{name}": [] for name in ("index", "start", "comparison", "migration")}
pygments_style = "default"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
