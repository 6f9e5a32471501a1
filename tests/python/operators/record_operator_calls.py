"""Writes the answers of MXNet 1.9.1 to a list of calls (operator_calls.py): lines of JSON, [call,
answer], packed with gzip.

    oracle/bin/python record_operator_calls.py calls.jsonl data/operator_calls_1.9.1.json.gz

Each line of calls.jsonl is a call, or [call, answer] of an older file. A call runs twice in another
process; what ends the process, or does not give the same answer twice, is left out.
"""
import gzip
import json
import multiprocessing
import sys

from operator_calls import answer


def work(pipe):
    import mxnet as mx
    while True:
        call = pipe.recv()
        pipe.send([json.dumps(answer(mx, call)) for _ in range(2)])


class Worker:
    def __init__(self):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def ask(self, call):
        """The answer's text, or None."""
        try:
            self.pipe.send(call)
            if self.pipe.poll(20):
                first, second = self.pipe.recv()
                return first if first == second else None
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.__init__()
        return None


if __name__ == '__main__':
    import mxnet    # noqa: F401  children are forks, which then have it already
    source, target = sys.argv[1:]
    worker = Worker()
    with (gzip.open if source.endswith('gz') else open)(source, 'rt') as lines:
        calls = [json.loads(line) for line in lines]
    calls = [c[0] if isinstance(c[0], list) else c for c in calls]
    kept = [(call, worker.ask(call)) for call in calls]
    with open(target, 'wb') as raw, gzip.GzipFile('', 'wb', 9, raw, mtime=0) as out:
        out.write(''.join(f'[{json.dumps(call)}, {text}]\n' for call, text in kept
                          if text and 'NaN' not in text).encode())
    print(len(calls), 'calls,', sum(text is not None for _, text in kept), 'answers')
