"""Writes sparse_arrays_1_9_1.json under MXNet 1.9.1: what the expressions of sparse_array_cases.py
give there. ``python record_sparse_arrays.py`` in an empty folder. Each runs in a process of its
own, for some end 1.9.1."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def one(expression, exact):
    import sparse_array_cases as cases
    print('\n@' + json.dumps(cases.outcome(expression, exact)), flush=True)


def main():
    import sparse_array_cases as cases
    lines = []
    work = [(e, True) for e in cases.EXACT] + [(e, False) for e in cases.VALUES]
    for expression, exact in work:
        done = subprocess.run([sys.executable, __file__, expression, str(int(exact))], capture_output=True, text=True, timeout=100)
        found = [line[1:] for line in done.stdout.split('\n') if line.startswith('@')]
        lines.append('%s: %s' % (json.dumps(expression), found[0] if found else '["crash", null, []]'))
    with open(os.path.join(HERE, 'sparse_arrays_1_9_1.json'), 'w') as file:
        file.write('{\n' + ',\n'.join(lines) + '\n}\n')


if __name__ == '__main__':
    one(sys.argv[1], sys.argv[2] == '1') if len(sys.argv) > 1 else main()
