"""How a command ends: an exit code, and at most one line (or one JSON object) on standard error."""

import errno
import json
import os
import re
import sys
import traceback

import click

from lengthwise.cli.verbs import lengthwise_command
from lengthwise.errors import LengthwiseError, MachineStopped, WrongInput, nearest, shown

INTERRUPTED = 130
OURS = 70  # neither an answer nor the user's fault: a bug of ours, with its traceback

_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EIO, errno.EMFILE, errno.ENFILE}
_KINDS = {"a valid float": "a number", "a valid integer": "an integer"}


def outcome(arguments: list[str]) -> int:
    """Runs the command line to its end and gives its exit code; nothing is raised."""
    as_json = wants_json(arguments)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:
        said = as_said(error)
        if said is None:
            traceback.print_exc()
            print("lengthwise: this is a defect of lengthwise, please report it", file=sys.stderr)
            return OURS
        print(error_line(said, as_json), file=sys.stderr)
        return said.exit_code
    return code


def _run(arguments: list[str]) -> int:
    completing = os.environ.get("_LENGTHWISE_COMPLETE")
    if completing:
        from click.shell_completion import shell_complete

        return shell_complete(lengthwise_command, {}, "lengthwise", "_LENGTHWISE_COMPLETE", completing)
    try:
        with lengthwise_command.make_context("lengthwise", list(arguments)) as ctx:
            lengthwise_command.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def wants_json(arguments: list[str]) -> bool:
    """Whether errors are to be JSON: --json or --nl among the options."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or "--nl" in options


def as_said(error: Exception) -> LengthwiseError | None:
    """The error as we say it to a person; None for a defect of ours."""
    if isinstance(error, LengthwiseError):
        return error
    if isinstance(error, click.UsageError):
        return usage(error)
    if isinstance(error, MemoryError):
        return MachineStopped("enough memory", str(error) or "not enough", "use a larger machine or a shorter string")
    if isinstance(error, OSError):
        place = "" if error.filename is None else str(error.filename)
        if error.errno in _MACHINE:
            return MachineStopped("to finish", str(error.strerror), "free the disk or the memory and try again", place)
        return WrongInput("a file that can be used", error.strerror or str(error), "check the path", place)
    return None


def usage(error: click.UsageError) -> WrongInput:
    """Click's own complaints in our words."""
    path = error.ctx.command_path if error.ctx else "lengthwise"
    see = f"see {path} --help"
    if isinstance(error, click.NoSuchOption):
        options = [name for p in error.ctx.command.params for name in p.opts] if error.ctx else []
        near = " or ".join(nearest(error.option_name, options))
        return WrongInput(f"an option of {path}", shown(error.option_name), f"nearest: {near}; {see}")
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return WrongInput(error.param.human_readable_name, "nothing", see)
    if isinstance(error, click.BadParameter) and error.param is not None:
        name = error.param.get_error_hint(error.ctx).strip("'")
        said = re.fullmatch(r"(?P<got>'.*') is not (?P<wanted>one of .*?|a valid .*?)\.?", error.message, re.DOTALL)
        if said is None:
            return WrongInput(f"a value for {name}", error.message.rstrip("."), see)
        wanted = _KINDS.get(said["wanted"], said["wanted"].replace("'", ""))
        return WrongInput(f"{wanted} for {name}", said["got"], see)
    got = error.format_message().rstrip(".").removeprefix("Got ")
    return WrongInput(f"{path} as its usage line says", got[:1].lower() + got[1:], see)


def error_line(error: LengthwiseError, as_json: bool) -> str:
    """One line for a person, or one JSON object for a program."""
    if not as_json:
        return str(error)
    parts = error.as_dict() if isinstance(error, WrongInput) else {"wanted": "", "got": str(error), "remedy": ""}
    return json.dumps({"error": {"where": ""} | parts})


def _reader_left() -> int:
    """The reader of our output closed it, having seen enough; nothing more may be written, not even at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    return 0
