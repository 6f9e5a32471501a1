"""The column `mxnet` of the tables in docs/migration/from_pytorch.md runs, line by line, in one
program behind the page's first block."""
import os
import re

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
with open(os.path.join(TREE, "docs", "migration", "from_pytorch.md"), encoding="utf-8") as page:
    TEXT = page.read()
BEGIN = re.search(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL).group(1)
TABLE = re.compile(r"^\| PyTorch \| mxnet \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


@pytest.mark.filterwarnings("ignore")
def test_every_line_of_the_tables_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(BEGIN, names)
    tried = 0
    for table in TABLE.finditer(TEXT):
        for row in table.group(1).splitlines():
            left, right = re.fullmatch(r"\| (.*?) \| `(.*)` \|", row).groups()
            try:
                exec(right, names)
            except Exception as error:
                raise AssertionError(f"{left}: {right}: {error!r}") from error
            tried += 1
    names["mx"].nd.waitall()
    assert tried > 80
