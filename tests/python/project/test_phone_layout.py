"""The site on phones: the first page's picture has a narrow form, and wide tables are scrolled."""
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tools"))

import speed_picture  # noqa: E402


@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_of_the_picture_is_outside_of_it(narrow):
    """By what letters of a sans-serif take on average."""
    drawing = xml.fromstring(speed_picture.picture(narrow))
    width, sizes, ends = int(drawing.get("width")), {}, []
    assert width == (340 if narrow else 720)
    for group in drawing.iter():
        for text in group:
            if text.tag.endswith("text"):
                size = float(text.get("font-size") or group.get("font-size"))
                length = len(text.text) * size * (0.58 if text.get("font-weight") else 0.55)
                x = float(text.get("x"))
                begin = x - length if text.get("text-anchor") == "end" else x
                ends.append((begin, begin + length, text.text))
                sizes[text.text] = size
    assert len(ends) > 30 and all(0 <= begin and end <= width for begin, end, _ in ends), [e for e in ends if e[0] < 0 or e[1] > width]
    assert min(sizes.values()) >= 10        # a phone of 360 points shows the narrow one as it is


def test_the_first_page_has_both_pictures():
    page = (TREE / "docs" / "index.md").read_text()
    names = re.findall(r'(?:src|srcset)="(images/[^"]+)"', page)
    assert names == ["images/speed_narrow.svg", "images/speed.svg"] and all((TREE / "docs" / name).exists() for name in names)


def test_wide_tables_are_scrolled():
    rules = (TREE / "tools" / "website" / "theme" / "extra.css").read_text()
    phone = rules[rules.index("@media screen and (max-width: 44.9em)"):]
    assert re.search(r"\.md-typeset__scrollwrap \{[^}]*overflow-x: auto", phone)
    assert re.search(r"\.no-js \.md-typeset table[^{]*\{[^}]*overflow-x: auto", rules)
