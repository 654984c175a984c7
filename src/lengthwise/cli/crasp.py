"""`lengthwise crasp`: programs of C-RASP[periodic, local], from the first check to what they compute."""

import click

from lengthwise.cli.group import Verbs

VERBS = {
    "run": ("lengthwise.cli.crasp_run", "Run a program on words."),
    "lint": ("lengthwise.cli.crasp_lint", "Check a program; say its kind, nesting and fragment."),
    "explain": (
        "lengthwise.cli.crasp_explain",
        "Every operation at every position of one word, and why it is rejected.",
    ),
    "compare": (
        "lengthwise.cli.crasp_compare",
        "The shortest word on which two programs differ, or that they are equal.",
    ),
    "compile": ("lengthwise.cli.crasp_compile", "A program as a model file, and up to which length it is right."),
    "decide": ("lengthwise.cli.crasp_decide", "Whether a program accepts a regular language, and which."),
}


@click.command(
    cls=Verbs,
    table=VERBS,
    name="crasp",
    invoke_without_command=True,
    subcommand_metavar="VERB ...",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Programs of C-RASP[periodic, local]: tasks that transformers can do at every length.

    PROGRAM is a .crasp file, a dash for standard input, or crasp:NAME for one of the library (crasp:dyck1). Files in
    the older .cr syntax are read too.

    \b
    Examples:
      lengthwise crasp run crasp:dyck1 "(())()" "())("
      lengthwise crasp explain crasp:dyck1 "())("
      lengthwise crasp lint dyck1.crasp
      lengthwise crasp compare crasp:D_2 crasp:D_3
      lengthwise crasp compile dyck1.crasp --out dyck1.safetensors
      lengthwise crasp decide "(aa|b)*"

    \b
    The language, in full on the page "C-RASP" of the documentation:
      program dyck1
      alphabet '(' ')'
      let h := count('(') - count(')')        a name for a Boolean or a quantity
      output next_close := h > 0              shown at every position
      accept h == 0 and count(h < 0) == 0     read at the last position
    \b
      Booleans    'a'  true  false  name  not B  B and B  B or B
                  c >= d  c <= d  c > d  c < d  c == d  c != d
                  pos % 3 in {0, 1}       positions are counted from 1
      quantities  3  name  count(B)       at how many positions so far
                  count[back 0, 2](B)     ... of those exactly so far back
                  c + d  c - d  -c  2 * c  if B then c else d
      // starts a comment; B is a Boolean, c and d are quantities
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
