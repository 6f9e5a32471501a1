"""Each ```python block of README.md, of the site's first pages, and of docs/guide, docs/tutorials
and docs/migration runs as a program of its own; shell blocks do not run, nor do quotations
(test_guide_quotes.py). Where "It prints:" and a block of text stand below, that is what it prints
at its end, but for the last digits."""
import glob
import os
import re
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BLOCK = re.compile(r"(^From \[.*:\n\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PRINTED = re.compile(r"\n*It prints:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")

PAGES = ["README.md", "docs/index.md", "docs/install.md", "docs/onnx.md", "docs/tour.md",
         "docs/guide/*.md", "docs/tutorials/*.md", "docs/migration/*.md"]


def blocks():
    for page in [page for pattern in PAGES for page in sorted(glob.glob(os.path.join(TREE, pattern)))]:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for number, found in enumerate(BLOCK.finditer(text)):
            if found.group(1):
                continue
            line = text.count("\n", 0, found.start()) + 2
            marks = [pytest.mark.nightly] if "subprocess" in found.group(2) else []      # it starts several interpreters
            below = PRINTED.match(text, found.end())
            yield pytest.param(found.group(2), line, below and below.group(1), id=f"{os.path.basename(page)}-{number}", marks=marks)


@pytest.mark.cpu
@pytest.mark.parametrize("source, line, printed", list(blocks()))
def test_block_runs(source, line, printed, tmp_path):
    program = tmp_path / "example.py"
    program.write_text("\n" * (line - 1) + source)   # so that errors name the page's lines
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    if printed:
        said = "".join(done.stdout.splitlines(True)[-printed.count("\n"):])
        assert NUMBER.sub("#", said) == NUMBER.sub("#", printed), said
        # Another processor rounds otherwise, and what is trained differs.
        assert [float(n) for n in NUMBER.findall(said)] == pytest.approx([float(n) for n in NUMBER.findall(printed)], abs=0.15)


def test_pages_show_what_their_programs_print():
    assert sum(printed is not None for _, _, printed in (case.values for case in blocks())) >= 5


def test_every_page_is_in_the_site():
    sys.path.insert(0, os.path.join(TREE, "tools", "website"))
    import navigation
    listed = list(navigation.paths())
    assert len(listed) == len(set(listed)), "a page is listed twice"
    pages = {os.path.relpath(page, os.path.join(TREE, "docs"))
             for page in glob.glob(os.path.join(TREE, "docs", "**", "*.md"), recursive=True)}
    elsewhere = {"CONTRIBUTING.md", "CHANGELOG.md", "api/"}
    missing = set(listed) - pages - elsewhere
    assert not missing, f"tools/website/navigation.py lists {sorted(missing)}, which docs/ does not have"
    assert set(navigation.paths(navigation.complete(pages | elsewhere))) == pages | elsewhere
    added = navigation.complete(pages | elsewhere | {"new.md"})
    assert ("new", "new.md") in dict(added)["More"]


@pytest.mark.cpu
def test_readme_program_learns(tmp_path):
    """Its shares rise to what the page names. Batches come in another order each time."""
    with open(os.path.join(TREE, "README.md"), encoding="utf-8") as f:
        text = f.read()
    done = subprocess.run([sys.executable, "-c", BLOCK.search(text).group(2)], cwd=tmp_path, capture_output=True, text=True)
    shares = [float(share) for share in re.findall(r"epoch \d+: ([\d.]+)% of unseen points are right", done.stdout)]
    assert len(shares) == 10, done.stdout + done.stderr
    assert shares[0] < 80 and max(shares[5:]) > 90, shares
    assert "about 95 % of the points right" in text


def test_readme_is_short():
    with open(os.path.join(TREE, "README.md"), encoding="utf-8") as f:
        text = f.read()
    assert text.count("\n") <= 120
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert os.path.exists(os.path.join(TREE, path)), path
