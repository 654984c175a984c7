"""Shapes and types of the package are checked while its tests run, and only then."""

from jaxtyping import install_import_hook

install_import_hook("lengthwise", "typechecker.check")

from cli_helpers import command as command  # noqa: E402  (after the hook, so that it is checked too)
from cli_helpers import models as models  # noqa: E402
