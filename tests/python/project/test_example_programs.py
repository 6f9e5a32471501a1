"""The scripts in examples/ reach what they should: at a small size here, with their defaults under
`nightly`. serving.py needs an installed prefix: test_cpp_predictor.py."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet as mx

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(mx.__file__).resolve().parents[1]

# Script, arguments of the small size, and what the numbers in its last line but hints must satisfy,
# at the small size and with the defaults.
EXAMPLES = {
    "image_classification.py": (["--epochs", "3"], lambda accuracy: accuracy > 0.93,
                                lambda accuracy: accuracy > 0.98),
    # Epochs differ by 0.02 or so from processor to processor, which round differently.
    "module_records.py": (["--epochs", "6"], lambda accuracy: accuracy > 0.8,
                          lambda accuracy: accuracy > 0.91),
    "fine_tuning.py": (["--steps", "120", "--tuning-steps", "60"],
                       lambda scratch, tuned: tuned > scratch + 0.1 and tuned > 0.45,
                       lambda scratch, tuned: tuned > scratch + 0.1 and tuned > 0.7),
    "detection.py": (["--pictures", "320", "--epochs", "8"], lambda found, right: found > 0.55 and right > 0.7,
                     lambda found, right: found > 0.8 and right > 0.8),
    "language_model.py": (["--epochs", "25"], lambda perplexity, shares, _: perplexity < 0.6 * shares,
                          lambda perplexity, shares, _: perplexity < 0.42 * shares),
    "translation.py": (["--steps", "150"], lambda right, _: right > 0.85, lambda right, _: right > 0.97),
    "gan.py": (["--epochs", "12"], lambda after, before, _: after < 8 < 30 < before,
               lambda after, before, _: after < 3),
    "recommendation.py": (["--epochs", "6"], lambda rmse, count, mean: rmse < 0.9 < 1.1 < mean,
                          lambda rmse, count, mean: rmse < 0.65),
    "forecasting.py": (["--epochs", "10"], lambda error, season, *_: error < season,
                       lambda error, season, inside, *_: error < 6 < season and inside >= 9),
    "quantization.py": (["--epochs", "3", "--repeats", "2"],
                        lambda integers, floats, size: integers > 0.85 and abs(integers - floats) <= 0.01 and size < 0.3,
                        lambda integers, floats, size: integers > 0.97 and abs(integers - floats) <= 0.01 and size < 0.3),
}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")


def numbers(script, arguments, folder):
    """The numbers in the line of results, which begins with the example's name."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, ROOT / "examples" / script, *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    name = script.replace(".py", "").replace("_records", "").replace("fine_", "fine-").replace("_", " ")
    line, = [line for line in done.stdout.splitlines() if line.startswith(name + ": ")]
    return [float(number) for number in NUMBER.findall(line)]


@pytest.mark.cpu
@pytest.mark.parametrize("script", EXAMPLES)
def test_small(script, tmp_path):
    arguments, reached, _ = EXAMPLES[script]
    found = numbers(script, arguments, tmp_path)
    assert reached(*found), found


@pytest.mark.cpu
@pytest.mark.nightly
@pytest.mark.parametrize("script", EXAMPLES)
def test_with_defaults(script, tmp_path):
    found = numbers(script, [], tmp_path)
    assert EXAMPLES[script][2](*found), found


def test_each_example_is_listed_short_and_tested():
    scripts = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert scripts == {*EXAMPLES, "serving.py"}
    index = (ROOT / "examples" / "README.md").read_text()
    for name in scripts:
        assert f"[{name}]({name})" in index
    for path in [*(ROOT / "examples").glob("*.py"), *(ROOT / "examples" / "cpp").glob("*.cc")]:
        assert len(path.read_text().splitlines()) < 150, path


def test_pictures_are_of_the_format_that_wheels_write():
    """A wheel alone reads and writes JPEG files; a picture to look at may have another format."""
    pages = [*(ROOT / "examples").glob("*.py"), *(ROOT / "docs" / "tutorials").glob("*.md")]
    others = {path.name for path in pages if re.search(r'img_fmt="\.(?!jpg)', path.read_text())}
    assert others <= {"gan.py"}     # which writes one where --picture is given
