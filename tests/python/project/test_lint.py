"""The scripts of ./dev lint find what they look for, and the tree has none of what does not change
from day to day."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tools"))
import check_links      # noqa: E402
import check_prose      # noqa: E402


def test_links_of_the_pages_lead_somewhere(capsys):
    assert check_links.main([]) == 0, capsys.readouterr().out


def test_dead_links_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# One page\n## With `code`, twice\n## With `code`, twice\n")
    page = tmp_path / "page.md"
    page.write_text("[fine](other.md#one-page) [fine](other.md#with-code-twice-1) [far](https://example.org/x)\n"
                    "`[code](nowhere.md)` [dead](nowhere.md)\n"
                    "```\n[code](nowhere.md)\n```\n"
                    "[dead](other.md#two) [own](#top)\n# Top\n![dead](picture.svg)\n")
    assert [(line, link) for line, link, _ in check_links.dead_links(page)] == [
        (2, "nowhere.md"), (6, "other.md#two"), (8, "picture.svg")]


LONG = "word " * 25


@pytest.mark.parametrize("name, text, lines", [
    ("a.cc", f"// {LONG}\nint x;  // {LONG}\nchar s[] = \"// {LONG}\";\n/* {LONG}\n * {LONG}*/\n", [1, 4, 5]),
    ("a.py", f'"""{LONG}"""\n# {LONG}\nx = "{LONG}"\ndef f():\n    """Short.\n\n    {LONG}\n    """\n', [1, 2, 7]),
    ("a.md", f"{LONG}\n| {LONG} |\n```\n{LONG}\n```\n- {LONG}\n" + "x" * 120 + "\n", [1, 6])])
def test_long_lines_of_text_are_found_and_broken(name, text, lines):
    path = Path(name)
    assert [p.number + 1 for p in check_prose.prose_of(path, text) if check_prose.is_too_long(p)] == lines
    broken = check_prose.wrapped(path, text)
    assert not [p for p in check_prose.prose_of(path, broken) if check_prose.is_too_long(p)]
    assert broken.replace("\n", " ").count("word") == text.count("word") and check_prose.wrapped(path, broken) == broken


def test_paragraphs_run_on_and_items_keep_their_indent():
    text = f"- {LONG}\n  end of the item\n- next\n"
    assert check_prose.wrapped(Path("a.md"), text).split("\n")[1:] == [
        "  " + "word " * 6 + "end of the item", "- next", ""]


def test_files_that_are_not_there_are_found():
    known = ["src/base/env.cc", "docs/perf.md"]
    text = "env.cc base/env.cc other.cc *_cuda.cc <name>.md ops/env.cc https://example.org/a.md perf.md"
    line = check_prose.Prose(0, "", "", text, False)
    assert list(check_prose.missing_files(line, Path("a.md"), known)) == ["other.cc", "ops/env.cc"]


def test_unknown_checks_are_refused():
    done = subprocess.run([sys.executable, TREE / "tools" / "lint.py", "prose", "speling"], capture_output=True, text=True)
    assert done.returncode == 2 and "speling; accepted: format, python" in done.stderr


def test_every_mark_of_a_run_is_on_some_file():
    """A misspelt mark in tools/testing.sh would choose nothing."""
    text = (TREE / "tools" / "testing.sh").read_text()
    files = [p.read_text() for p in (TREE / "tests" / "python").rglob("test_*.py")]
    for mark in ("gpu", "on_gpu", "several_gpus", "gpu_quick", "sanitized", "sanitized_address", "unsanitized", "several_threads"):
        assert mark in text and any(f"pytest.mark.{mark}" in content for content in files), mark
    assert os.access(TREE / "dev", os.X_OK)
