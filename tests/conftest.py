"""Shapes and types of the package are checked while its tests run, and only then."""

from jaxtyping import install_import_hook

install_import_hook("lengthwise", "typechecker.check")
