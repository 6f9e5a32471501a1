"""Each ```python block of README.md and docs/guide runs as a program of its own; shell blocks do
not run, nor do quotations (test_guide_quotes.py)."""
import glob
import os
import re
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"(^From \[.*:\n\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks():
    for page in [os.path.join(TREE, "README.md"), *sorted(glob.glob(os.path.join(TREE, "docs", "guide", "*.md")))]:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for number, found in enumerate(BLOCK.finditer(text)):
            if found.group(1):
                continue
            line = text.count("\n", 0, found.start()) + 2
            yield pytest.param(found.group(2), line, id=f"{os.path.basename(page)}-{number}")


@pytest.mark.cpu
@pytest.mark.parametrize("source, line", list(blocks()))
def test_block_runs(source, line, tmp_path):
    program = tmp_path / "example.py"
    program.write_text("\n" * (line - 1) + source)   # so that errors name the page's lines
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_readme_links_every_page():
    with open(os.path.join(TREE, "README.md"), encoding="utf-8") as f:
        linked = set(re.findall(r"\]\(([^)#]+\.md)\)", f.read()))
    pages = glob.glob(os.path.join(TREE, "docs", "**", "*.md"), recursive=True)
    missing = {os.path.relpath(page, TREE) for page in pages} - linked
    assert not missing, f"README.md does not link {sorted(missing)}"


def test_readme_is_short():
    with open(os.path.join(TREE, "README.md"), encoding="utf-8") as f:
        text = f.read()
    assert text.count("\n") <= 120
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert os.path.exists(os.path.join(TREE, path)), path
