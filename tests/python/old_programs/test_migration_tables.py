"""The column `mxnet` of the tables in docs/migration/from_pytorch.md runs, line by line, in one
program behind the block that the page names."""
import os
import re

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
with open(os.path.join(TREE, "docs", "migration", "from_pytorch.md"), encoding="utf-8") as page:
    TEXT = page.read()
BEGIN = re.search(r"behind these lines:\n\n```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL).group(1)
TABLE = re.compile(r"^\| PyTorch \| mxnet \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def right_of(left):
    """The right column of the row that begins with `left`."""
    return re.search(rf"^\| `{re.escape(left)}` \| `(.*)` \|$", TEXT, re.M).group(1)


def names_of_first_block():
    names = {}
    exec(BEGIN, names)
    return names


def test_schedule_falls_after_the_epochs_of_the_left_column():
    names = names_of_first_block()
    schedule = eval(right_of("StepLR(o, 30, 0.1)"), names)
    updates = len(names["loader"])
    assert schedule(30 * updates) == pytest.approx(0.1)
    assert schedule(30 * updates + 1) == pytest.approx(0.01)


def test_clipping_limits_the_gradients():
    """A step on the clipped gradients moves the weights by at most the rate times the limit."""
    names = names_of_first_block()
    exec("with autograd.record(): loss = 1e3 * (net(x) ** 2 + net(x)).sum()\nloss.backward()", names)
    exec(right_of("clip_grad_norm_(net.parameters(), 1)"), names)
    length = sum(float((p.grad() ** 2).sum().asscalar()) for p in names["params"].values()) ** 0.5
    assert length == pytest.approx(names["x"].shape[0], rel=1e-4)


def test_trainer_of_several_processes_has_a_store_of_several_processes():
    names = names_of_first_block()
    assert eval(right_of("DistributedDataParallel(net)"), names)._kvstore_params["kvstore"] == "dist_sync"


@pytest.mark.filterwarnings("ignore")
def test_every_line_of_the_tables_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = names_of_first_block()
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
