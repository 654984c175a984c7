"""How the pages are built: MyST Markdown, furo, formulas in dollars."""

import lengthwise

project = "Lengthwise"
author = "the Lengthwise authors"
project_copyright = "the Lengthwise authors"
version = release = lengthwise.__version__
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Lengthwise"
exclude_patterns = ["_build", "onset"]
nitpicky = True
