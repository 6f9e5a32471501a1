"""Variables of other libraries and of jobs, for the page of variables: src/base/foreign_env.inc."""
import os
import re

from mxnet import env

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "base", "foreign_env.inc")
TEXT = '"((?:[^"\\\\]|\\\\.)*)"'


def rows():
    """Name, whose, and text of each; the text is empty for those that are not for users."""
    with open(TABLE, encoding="utf-8") as file:
        return re.findall(rf"^MXNET_FOREIGN_ENV\({TEXT},\s*{TEXT},\s*{TEXT}\)", file.read(), re.M)


def markdown():
    """The section of the page."""
    lines = ["", "## Of other libraries and of jobs", "",
             "Names that others have made, and that this library looks at, too. They are not in the table of",
             "`python -m mxnet.env`. [distributed.md](distributed.md) says more of those of a job.", "",
             "| variable | whose | what it does here |", "|---|---|---|"]
    lines += [f"| `{name}` | {whose} | {env._cell(env._plain(help))} |" for name, whose, help in rows() if help]
    return "\n".join(lines) + "\n"
