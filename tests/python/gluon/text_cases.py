"""Cases for mxnet.contrib.text and the texts of gluon.contrib.data.

    python text_cases.py data/contrib_text.json     under MXNet 1.9.1: records what test_contrib_text.py expects
"""
import collections
import json
import os
import sys
import tempfile
import warnings

import numpy as np

import mxnet as mx
from mxnet.contrib import text
from mxnet.gluon.contrib.data import text as corpora

COUNTER = collections.Counter({'a': 3, 'b': 3, 'c': 1, 'd': 2, 'e': 5, 'zz': 2, '<unk>': 9})
VOCABULARIES = [
    {}, {'most_freq_count': 2}, {'min_freq': 2}, {'min_freq': 3, 'most_freq_count': 1}, {'reserved_tokens': ['<pad>', 'b']},
    {'unknown_token': 'a'}, {'unknown_token': 'UNK', 'reserved_tokens': []}, {'reserved_tokens': ['<unk>']},
    {'reserved_tokens': ['x', 'x']}, {'min_freq': 0}, {'most_freq_count': 0}, {'most_freq_count': -1}, {'min_freq': -1},
    {'unknown_token': None}, {'reserved_tokens': 'ab'}, {'min_freq': 1.5}, {'most_freq_count': 2.0},
    {'reserved_tokens': ['<pad>'], 'most_freq_count': 2}]
COUNTS = [
    (('a b  B\nc a',), {}), (('a b  B\nc a',), {'to_lower': True}), (('a.b|c',), {'token_delim': '.', 'seq_delim': '|'}),
    (('aXXbYYc',), {'token_delim': 'XX', 'seq_delim': 'YY'}), (('',), {}), (('a  b\t c',), {}), (('aab',), {'token_delim': 'a'}),
    (('a b',), {'token_delim': ''})]
FILES = {
    'plain': 'a 0.5 0.25 3\nb 1 2 3\nc 4 5 6\n', 'header': '3 3\na 0.5 0.25 3\nb 1 2 3\n',
    'twice': 'a 0.5 0.25 3\na 1 2 3\nb 1 1 1\n', 'unknown': 'a 0.5 0.25 3\n<unk> 9 9 9\nb 1 1 1\n<unk> 8 8 8\n',
    'short': 'a 0.5 0.25 3\nb 1 2\nc 3 4 5\n', 'long': 'a 0.5 0.25 3\nb 1 2 3 4\nc 3 4 5\n', 'one': 'a 0.5 2\nb 1\nc 3 4\n',
    'blank': 'a 0.5 2\n\nc 3 4\n', 'token': 'a\nb 1 2\n', 'word': 'a 0.5 2\nb x 2\n', 'spaces': 'a 1 2 \nb 3 4 \n',
    'two spaces': 'a  1  2\nb  3 4\n', 'two tokens': '. . 1 2\nb 3 4\n', 'returns': 'a 1 2\r\nb 3 4\r\n', 'no token': ' 1 2\nb 3 4\n',
    'powers': 'a 1e-3 2\nb 3 4.5e2\n', 'accents': '\u00e9 1 2\nb 3 4\n'}
EMBEDDINGS = [
    *[(name, {}) for name in sorted(FILES)], ('unknown', {'unknown_token': 'UU'}), ('plain', {'init_unknown_vec': mx.nd.ones}),
    ('plain', {'unknown_token': 'a'}), ('plain', {'vocabulary': text.vocab.Vocabulary(collections.Counter('acqq'), reserved_tokens=['r'])}),
    ('unknown', {'vocabulary': text.vocab.Vocabulary(collections.Counter('abqq'), unknown_token='U')})]
TOKENS = ['a', ['a', 'q'], 'q', 'A', ['A', 'B', 'Z'], 3, ('a', 'b'), '<unk>', ['a']]
TEXT = ' \n = Robert Boulter = \n \n Robert Boulter is an English film actor . \n He had a <unk> role . \n'


def described(function):
    """What a function returns, with the warnings, or the class of error that 1.9.1 has."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        try:
            found = function()
        except Exception as error:
            found = next(c.__name__ for c in (AssertionError, TypeError, ValueError, KeyError) if isinstance(error, c))
    told = [str(w.message).replace('text embedding', 'token embedding') for w in seen
            if w.category is UserWarning and 'published' not in str(w.message)]
    return [found, told] if told else found


def tokens_of(vocabulary):
    return [vocabulary.idx_to_token, vocabulary.unknown_token, vocabulary.reserved_tokens]


def vectors_of(embedding):
    return [*tokens_of(embedding), embedding.vec_len, embedding.idx_to_vec.asnumpy().tolist()]


def values():
    found = {'vocabularies': [described(lambda k=k: tokens_of(text.vocab.Vocabulary(COUNTER, **k))) for k in VOCABULARIES],
             'counts': [described(lambda a=a, k=k: sorted(text.utils.count_tokens_from_str(*a, **k).items())) for a, k in COUNTS]}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in FILES}
        for name, content in FILES.items():
            with open(paths[name], 'w', encoding='utf8', newline='') as out:
                out.write(content)
        custom = text.embedding.CustomEmbedding
        found['embeddings'] = [described(lambda n=n, k=k: vectors_of(custom(paths[n], **k))) for n, k in EMBEDDINGS]
        plain, other = custom(paths['plain']), custom(paths['powers'])
        found['vectors'] = [described(lambda t=t, b=b: plain.get_vecs_by_tokens(t, b).asnumpy().tolist())
                            for t in TOKENS for b in (False, True) if not b or t not in (3, ('a', 'b'))]
        composite = text.embedding.CompositeEmbedding(text.vocab.Vocabulary(collections.Counter('aabz')), [plain, other])
        found['composite'] = vectors_of(composite)
        plain.update_token_vectors(['c', '<unk>'], mx.nd.array([[1, 1, 1], [2, 2, 2]]))
        plain.update_token_vectors('a', mx.nd.array([7, 8, 9]))
        found['updated'] = vectors_of(plain)
    return found


def corpus(folder, **kwargs):
    """Everything about a WikiText2 over TEXT."""
    with open(os.path.join(folder, 'wiki.train.tokens'), 'w', encoding='utf8') as out:
        out.write(TEXT)
    data = corpora.WikiText2(folder, 'train', **kwargs)
    return [len(data), [[part.asnumpy().tolist() for part in data[i]] for i in range(len(data))], tokens_of(data.vocabulary),
            sorted(data.frequencies.items()), np.dtype(data[0][0].dtype).name]


if __name__ == '__main__':
    recorded = values()
    corpora.check_sha1 = lambda *_: True        # 1.9.1 fetches the published file otherwise
    with tempfile.TemporaryDirectory() as place:
        recorded['corpus'] = corpus(place, seq_len=4)
    with open(sys.argv[1], 'w') as file:
        json.dump(recorded, file, indent=0)
