"""The code that docs/guide quotes stands in the files that it names.

A quotation is the line "From [`file`](link):" and a block of code.
"""
import pathlib
import re

import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
QUOTE = re.compile(r"^( *)From[ \n]\[`([^`]+)`\]\(([^)]+)\):\n\n *```\w+\n(.*?)\n *```$", re.M | re.S)
PAGES = sorted((TREE / "docs" / "guide").glob("*.md"))


def quotes(page):
    return list(QUOTE.finditer(page.read_text()))


def lines(text, indent=""):
    """Without the backslashes at the ends of a macro's lines."""
    return [line.removeprefix(indent).rstrip(" \\") for line in text.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_code_is_in_the_tree(page):
    for indent, name, link, body in (q.groups() for q in quotes(page)):
        path = (page.parent / link).resolve()
        assert str(path).endswith("/" + name), f"{page.name}: the link of {name} leads to {link}"
        wanted, have = lines(body, indent), lines(path.read_text())
        found = any(have[i:i + len(wanted)] == wanted for i in range(len(have)))
        assert found, f"{page.name} quotes of {name} what is not there:\n{body}"


@pytest.mark.parametrize("name, least", [("add_an_operator.md", 10), ("write_a_kernel.md", 6)])
def test_code_of_the_guide_is_quoted(name, least):
    """A block of C++ or Python in these pages is a quotation: no code that nothing compiles."""
    page = TREE / "docs" / "guide" / name
    blocks = re.findall(r"^ *```(?:cpp|py|python)$", page.read_text(), re.M)
    assert len(blocks) == len(quotes(page)) >= least
