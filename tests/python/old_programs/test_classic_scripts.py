"""Scripts as users of 1.x wrote them (classic/): they print what 1.9.1 prints, and learn."""

import json
import os
import re
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, HERE)
from record_classic_scripts import GLUON, MODULE, SAME_NUMBERS, SAME_TEXT, run  # noqa: E402

pytestmark = pytest.mark.nightly
NUMBER = re.compile(r'-?\d+\.\d+(?:e[-+]\d+)?')
WARPED = (
    '--shuffle 1 --random-crop 1 --random-mirror 1 --max-random-h 20 --max-random-s 20 '
    '--max-random-l 20 --max-random-rotate-angle 5 --max-random-shear-ratio 0.1 '
    '--min-random-scale 0.9 --pad-size 2 --data-train-idx train.idx'
)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp('classic')
    run(path, ['make_records.py .'])
    return path


@pytest.fixture(scope='module')
def recorded():
    with open(os.path.join(HERE, 'data', 'classic_scripts.json')) as file:
        return json.load(file)


def text(lines):
    return [NUMBER.sub('#', line) for line in lines]


def numbers(lines):
    return [float(number) for line in lines for number in NUMBER.findall(line)]


@pytest.mark.parametrize('name', sorted(SAME_NUMBERS))
def test_numbers_of_1_9_1(folder, recorded, name):
    told = run(folder, SAME_NUMBERS[name])
    assert text(told) == text(recorded[name])
    np.testing.assert_allclose(numbers(told), numbers(recorded[name]), rtol=3e-3, atol=2e-4)


@pytest.mark.parametrize('name', sorted(SAME_TEXT))
def test_text_of_1_9_1(folder, recorded, name):
    told = run(folder, SAME_TEXT[name])
    # How many boxes are found, and whether an epoch is the best, depend on random numbers.
    assert [re.sub(r'\d+ of|lr.*', '', line) for line in text(told)] == [
        re.sub(r'\d+ of|lr.*', '', line) for line in text(recorded[name])
    ]


def last(told, pattern):
    return [float(match.group(1)) for match in map(re.compile(pattern).search, told) if match][-1]


@pytest.mark.parametrize(
    'command, pattern, least',
    [
        (MODULE + '--network lenet --lr 0.02 ' + WARPED, r'Validation-accuracy=(.*)', 0.9),
        (MODULE + '--network resnet --dtype float16', r'Validation-accuracy=(.*)', 0.9),
        (GLUON + '--augment --optimizer nag', r'validation: accuracy=(\S*)', 0.9),
        (
            'train_ssd.py --train-path boxes.rec --augment --end-epoch 12',
            r'found (\d+)',
            30,
        ),  # of 46
        ('train_faces.py --path-imgrec faces.rec', r'same (\S*)', 0.8),
    ],
)
def test_they_learn(folder, command, pattern, least):
    assert last(run(folder, [command]), pattern) > least


def test_losses_fall_with_dropout(folder):
    told = run(folder, ['train_words.py --tied --dropout 0.1 --epochs 12 --lr 10 --clip 2 --nlayers 1'])
    assert last(told, r'test ppl (.*)') < 10  # of 51 words
