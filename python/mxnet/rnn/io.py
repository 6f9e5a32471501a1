"""Sentences as numbers, in batches of one length."""
import bisect
import random

import numpy as np

from .. import ndarray as nd
from ..io import DataBatch, DataDesc, DataIter

__all__ = ['encode_sentences', 'BucketSentenceIter']


def encode_sentences(sentences, vocab=None, invalid_label=-1, invalid_key='\n', start_label=0, unknown_token=None):
    """(sentences as lists of numbers, {word: number}).

    Parameters
    ----------
    sentences : list of list of str
    vocab : dict, optional
        Numbers of words. Without it, words are numbered from `start_label` on as they come, leaving
        out `invalid_label`, which stands for `invalid_key`. With it, an unknown word is an
        AssertionError, unless there is an `unknown_token`.
    unknown_token : str, optional
        Stands for words that `vocab` lacks; gets a number if it has none.

    Examples
    --------
    >>> codes, vocabulary = mx.rnn.encode_sentences([['the', 'cat'], ['the', 'dog']], start_label=1)
    >>> codes, len(vocabulary)
    ([[1, 2], [1, 3]], 4)
    """
    grows = vocab is None
    vocab = {invalid_key: invalid_label} if grows else vocab
    following = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in vocab:
                assert grows or unknown_token is not None, (
                    f'[rnn.encode_sentences] {word!r} is not in vocab; give unknown_token to accept it')
                if unknown_token is not None:
                    word = unknown_token
            if word not in vocab:
                taken = set(vocab.values()) if not grows else {invalid_label}
                while following in taken:
                    following += 1
                vocab[word] = following
                following += 1
            numbers.append(vocab[word])
        encoded.append(numbers)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches for language models: the sentences of a batch have one length, and the label is the
    sentence one word ahead.

    Parameters
    ----------
    sentences : list of list of int
    batch_size : int
        What does not fill a batch of its bucket is left out of the epoch.
    buckets : list of int, optional
        Lengths; a sentence is filled up to the next one with `invalid_label`, and left out when it
        is longer than all. By default, the lengths that at least `batch_size` sentences have.
    data_name, label_name : str
    dtype : str
    layout : {'NT', 'TN'}
        Order of batch and steps.

    Examples
    --------
    >>> sentences = [[1, 2], [3, 4], [1, 2, 3, 4], [4, 3, 2, 1]]
    >>> batches = mx.rnn.BucketSentenceIter(sentences, batch_size=2, buckets=[2, 4])
    WARNING: discarded 0 sentences longer than the largest bucket.
    >>> sorted(batch.data[0].shape for batch in batches)
    [(2, 2), (2, 4)]
    """

    def __init__(self, sentences, batch_size, buckets=None, invalid_label=-1, data_name='data', label_name='softmax_label', dtype='float32',
                 layout='NT'):
        super().__init__(batch_size)
        if layout.find('N') not in (0, 1):
            raise ValueError(f'[rnn.BucketSentenceIter] layout {layout!r} given; NT (batch first) and TN (steps first) are accepted')
        if not buckets:
            buckets = [length for length, count in enumerate(np.bincount([len(s) for s in sentences])) if count >= batch_size]
        if not buckets:
            raise ValueError(f'[rnn.BucketSentenceIter] no length occurs {batch_size} times; give buckets')
        self.buckets = sorted(buckets)
        self.data_name, self.label_name, self.dtype, self.invalid_label, self.layout = data_name, label_name, dtype, invalid_label, layout
        self.major_axis = layout.find('N')
        self.default_bucket_key = self.buckets[-1]
        held, left_out = [[] for _ in self.buckets], 0
        for sentence in sentences:
            at = bisect.bisect_left(self.buckets, len(sentence))
            if at == len(self.buckets):
                left_out += 1
                continue
            held[at].append(list(sentence) + [invalid_label] * (self.buckets[at] - len(sentence)))
        print(f'WARNING: discarded {left_out} sentences longer than the largest bucket.')    # also of 0, as in 1.x
        self.data = [np.array(rows, dtype=dtype).reshape(-1, size) for rows, size in zip(held, self.buckets)]
        self.idx = [(bucket, first) for bucket, rows in enumerate(self.data)
                    for first in range(0, len(rows) - batch_size + 1, batch_size)]
        self.provide_data = [self._described(data_name, self.default_bucket_key)]
        self.provide_label = [self._described(label_name, self.default_bucket_key)]
        self.reset()

    def _described(self, name, length):
        shape = (self.batch_size, length)
        return DataDesc(name, shape if self.major_axis == 0 else shape[::-1], layout=self.layout)

    def reset(self):
        """Shuffle the batches, and the sentences of every bucket."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for rows in self.data:
            np.random.shuffle(rows)
            ahead = np.full_like(rows, self.invalid_label)
            ahead[:, :-1] = rows[:, 1:]
            self.nddata.append(nd.array(rows, dtype=self.dtype))
            self.ndlabel.append(nd.array(ahead, dtype=self.dtype))

    def next(self):
        """The next batch; its `bucket_key` is its length.

        >>> sentences = [[1, 2], [3, 4], [5, 6, 7, 8], [6, 7, 8, 9]]
        >>> batches = mx.rnn.BucketSentenceIter(
        ...     sentences, batch_size=2, buckets=[3, 5], invalid_label=0)
        WARNING: discarded 0 sentences longer than the largest bucket.
        >>> batch = batches.next()
        >>> batch.data[0].shape == (2, batch.bucket_key)
        True
        >>> batches.reset()
        >>> sorted(batch.bucket_key for batch in batches)
        [3, 5]
        """
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (source[bucket][first:first + self.batch_size] for source in (self.nddata, self.ndlabel))
        if self.major_axis == 1:
            data, label = data.T, label.T
        length = self.buckets[bucket]
        return DataBatch([data], [label], pad=0, bucket_key=length,
                         provide_data=[self._described(self.data_name, length)], provide_label=[self._described(self.label_name, length)])
