"""The command line as `python -m lengthwise.cli`."""

from lengthwise.cli import main

main()
