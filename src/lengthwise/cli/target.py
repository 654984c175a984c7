"""What TARGET stands for on the command line: a task by name, or a model in a file or as the weights of a task.

A name without / and without a known suffix is a task; everything else is a file.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from lengthwise.errors import WrongInput, shown

if TYPE_CHECKING:
    from lengthwise.limit.model import LimitTransformer
    from lengthwise.tasks.protocol import Task

MODEL_FILE = ".safetensors"
OF_WORDS = {  # how a function on words is recognised, and what it is
    "crasp:": "a library program",
    "regex:": "a regular expression",
    ".crasp": "a file of C-RASP",
    ".py": "a Python function",
}


def model_at(target: str, bits: int | None = None) -> "LimitTransformer":
    """The model that a target names: a .safetensors file, a dash for standard input, or a task's explicit weights.

    bits: the precision of log-length attention where the target states none.
    """
    if target == "-" or _is_file(target):
        from lengthwise.cli.files import load_model

        model = load_model(target)
    else:
        model = task_at(target).construction()
    if bits is None or model.bits is not None or model.attention != "log-length":
        return model
    return replace(model, bits=bits)


def task_at(target: str) -> "Task":
    """The task that a target names; an unknown name lists the nearest."""
    if target == "-" or _is_file(target):
        raise WrongInput(
            "a task", f"the file {shown(target)}", "name a task, as simple:omega=4; see `lengthwise tasks`"
        )
    from lengthwise.tasks.registry import task

    _refuse_functions_on_words(target)
    return task(target)


def _is_file(target: str) -> bool:
    _refuse_functions_on_words(target)
    return target.endswith(MODEL_FILE) or "/" in target.partition(":")[0]


def _refuse_functions_on_words(target: str) -> None:
    """Kinds of target that `predict` and `communication` take; a Python file may be followed by :NAME."""
    for mark, kind in OF_WORDS.items():
        if target.startswith(mark) if mark.endswith(":") else target.partition(":")[0].endswith(mark):
            remedy = (
                "name a task, as simple:omega=4, or a .safetensors file; `lengthwise predict` takes functions on words"
            )
            raise WrongInput("a task or a model file", f"{kind}, {shown(target)}", remedy)
