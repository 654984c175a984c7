"""The command `lengthwise`: its verbs, and how every one of them ends.

0    done, or the answer is yes
1    answered, and the answer is no
2    wrong input or usage
3    the machine stopped it: disk, memory, device
130  interrupted
"""

import sys

from lengthwise.cli.endings import outcome


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    sys.exit(outcome(sys.argv[1:]))
