"""The scripts of classic/ and what they print.

    python record_classic_scripts.py data/classic_scripts.json

under MXNet 1.9.1 records what test_classic_scripts.py expects.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = os.path.join(HERE, 'classic')

MODULE = 'train_module.py --data-train train.rec --data-val val.rec --initializer numbers '
GLUON = 'train_gluon.py --data-train train.rec --data-val val.rec '
# No random numbers but NumPy's: the losses are those of 1.9.1.
SAME_NUMBERS = {
    'module, checkpoints': [
        MODULE + '--kv-store local --num-epochs 2 --top-k 2 --model-prefix m',
        MODULE + '--kv-store local --num-epochs 3 --load-epoch 1 --model-prefix m',
    ],
    'module, monitor': [
        MODULE + '--network mlp --kv-store device --optimizer nag --monitor 3 --num-epochs 1'
    ],
    'module, adam': [MODULE + '--network lenet --optimizer adam --lr 0.002 --batch-size 24'],
    'gluon, hybrid': [GLUON + '--mode hybrid'],
    'gluon, imperative': [GLUON + '--mode imperative --num-workers 2 --kvstore local'],
    'detection': ['train_ssd.py --train-path boxes.rec'],
    'faces': ['train_faces.py --path-imgrec faces.rec --plain --activation leaky'],
    'words, lstm': ['train_words.py --numbers --dropout 0'],
    'words, gru': ['train_words.py --numbers --dropout 0 --model gru --tied --hybridize'],
    'words, rnn': ['train_words.py --numbers --dropout 0 --model rnn_tanh --nlayers 1'],
}
# Numbers from a generator, or of speed alone: the text is that of 1.9.1.
SAME_TEXT = {
    'module, test-io': [MODULE + '--test-io 1'],
    'module, benchmark': ['train_module.py --network lenet --benchmark 1 --num-epochs 1'],
    'gluon, augmented': [GLUON + '--augment'],
    'detection, augmented': ['train_ssd.py --train-path boxes.rec --augment'],
    'faces, augmented': ['train_faces.py --path-imgrec faces.rec'],
    'words, dropout': ['train_words.py --tied --dropout 0.2'],
}
TOLD = re.compile(
    r'(INFO:root:|Node\[0\] |^)'
    r'((\[?(Epoch|epoch|Batch|Update)\b|Saved|Start|best|found|loaded|imported|verified).*)'
)
TIMED = re.compile(r'Speed: [\d.]+|Time cost=[\d.]+|time cost: [\d.]+')


def run(folder, commands, environment=None):
    """What the commands print about training, one after the other in the folder, without times."""
    told = []
    for command in commands:
        script, *arguments = command.split()
        done = subprocess.run(
            [sys.executable, os.path.join(SCRIPTS, script), *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=120,
        )
        if done.returncode:
            raise RuntimeError(command + '\n' + done.stdout)
        found = filter(None, map(TOLD.search, done.stdout.splitlines()))
        # Standard output of a script is buffered, the log is not.
        told += sorted(
            (TIMED.sub('', match.group(2)) for match in found),
            key=lambda line: line.startswith('['),
        )
    return told


def main(path):
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        run(folder, ['make_records.py .'])
        for name, commands in {**SAME_NUMBERS, **SAME_TEXT}.items():
            recorded[name] = run(folder, commands)
    with open(path, 'w') as file:
        json.dump(recorded, file, indent=0)


if __name__ == '__main__':
    main(sys.argv[1])
