"""The site: what its pages are made from, the link checker, and, nightly where MkDocs is installed,
the whole site."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TREE / "tools" / "website"), str(TREE / "tools")]

import api_pages  # noqa: E402
import check_site  # noqa: E402
import docstring_pages  # noqa: E402
import variable_tasks as variables  # noqa: E402
from mxnet import env  # noqa: E402


def test_every_variable_has_a_task():
    rows = env.list()
    seen = set()
    for title, _, groups, pattern in variables.TASKS:
        names = {row["name"] for row in variables.of_task(groups, pattern, rows)}
        assert names, f"{title}: no variable"
        seen |= names
    assert seen == {row["name"] for row in rows}
    text = variables.page()
    assert all(f"`{row['name']}`" in text for row in rows)


def test_stars_and_angles_stay_what_they_are():
    """`wd*weight + lr*g` has no word in italics, and browsers drop an unknown <float>."""
    assert env._plain("wd*w - lr*g, 2**T, a * b, `x*y`, tuple of <float>, a < b") \
        == r"wd\*w - lr\*g, 2\*\*T, a * b, `x*y`, tuple of &lt;float>, a < b"
    assert docstring_pages.inline("tuple of <float>, `<x>`, a*b") == r"tuple of &lt;float\>, `<x>`, a\*b"
    pages = TREE / "docs"
    for page in ("operators.md", "env_var.md", "variables.md", "iterators.md", "passes.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", (pages / page).read_text(), flags=re.S)
        assert not re.search(r"[\w)](?<!\\)\*[\w(]|<[a-zA-Z]", text), page


def test_docstrings_become_markdown():
    text = docstring_pages.markdown("""Rows of `x` * 2, see :func:`mxnet.nd.take`.

Parameters
----------
x : NDArray
    Of shape (n, 3).
**more
    Not used.

Examples
--------
>>> 1 + 1
2""")
    assert text.split("\n") == [
        r"Rows of `x` \* 2, see `mxnet.nd.take`.", "", "**Parameters**", "", "- `x` (NDArray): Of shape (n, 3).",
        "- `**more`: Not used.", "", "**Examples**", "", "```pycon", ">>> 1 + 1", "2", "```"]
    assert docstring_pages.first_sentence("One thing. Another thing.") == "One thing."
    assert docstring_pages.signature(lambda a, b=1: a) == "(a, b=1)"


@pytest.fixture(scope="module")
def reference():
    return api_pages.pages()


def test_reference_has_the_names_that_people_look_for(reference):
    pages, navigation = reference
    text = "\n".join(pages.values())
    for name in ("mxnet.gluon.nn.Dense", "mxnet.gluon.Trainer.step", "mxnet.optimizer.Adam", "mxnet.ndarray.softmax",
                 "mxnet.numpy.einsum", "mxnet.module.BaseModule.fit", "mxnet.io.NDArrayIter", "mxnet.autograd.record"):
        assert f"{{ #{name} " in text, name
    for _, where in navigation:
        assert all(path in pages for path in ([where] if isinstance(where, str) else [w for _, w in where]))


def site(folder, body, head=""):
    (folder / "index.html").write_text(f"<html><head>{head}</head><body>{body}</body></html>")
    return [what for _, what in check_site.findings(folder)]


@pytest.mark.parametrize("body, wrong", [
    ('<p id="here"></p><a href="#here">x</a><a href="https://example.org/a?b=c#d">y</a><a href="mailto:a@example.org">z</a>', None),
    ('<a href="#nowhere">x</a>', "no such place"),
    ('<a href="other.html">x</a>', "no such file"),
    ('<a href="https:/example.org">x</a>', "no such host"),
    ('<a href="http://exa mple.org/">x</a>', "no such host"),
    ('<a href="ftp://example.org/">x</a>', "the scheme ftp"),
    ('<img src="https://example.org/a.png">', "from elsewhere"),
    ('<script src="//example.org/a.js"></script>', "from elsewhere"),
    ('<script src="a.js"></script>', "not there"),
])
def test_checker_tells_links(tmp_path, body, wrong):
    found = site(tmp_path, body)
    assert found == [] if wrong is None else [wrong in what for what in found] == [True]


def test_checker_reads_style_sheets(tmp_path):
    (tmp_path / "a.css").write_text("@import 'https://example.org/b.css'; p { background: url(//example.org/c.png) }")
    assert len(site(tmp_path, "")) == 2


def tool():
    """The Python that has MkDocs, of SITE_VENV or of an earlier ./dev docs --site; None."""
    folder = os.environ.get("SITE_VENV") or TREE / "build" / "site_environment"
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        return None
    return python if subprocess.run([python, "-c", "import mkdocs, material"], capture_output=True).returncode == 0 else None


@pytest.mark.nightly
@pytest.mark.skipif(tool() is None, reason="needs MkDocs: ./dev docs --site installs it")
def test_whole_site():
    env_of_tool = {**os.environ, "SITE_VENV": str(tool().parents[1])}
    done = subprocess.run([sys.executable, TREE / "tools" / "website" / "build.py"], env=env_of_tool,
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = TREE / "build" / "site"
    wrong = list(check_site.findings(folder))
    assert not wrong, "\n".join(f"{page}: {what}" for page, what in wrong)
    assert (folder / "search" / "search_index.js").stat().st_size > 100000      # search without a server
