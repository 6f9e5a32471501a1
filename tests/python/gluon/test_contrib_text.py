"""mxnet.contrib.text and WikiText against what 1.9.1 gives, and what it gave no answer to."""
import collections
import hashlib
import json
import os
import warnings
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import text
from mxnet.gluon.contrib.data.text import WikiText2, WikiText103

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
import text_cases  # noqa: E402

with open(os.path.join(HERE, 'data', 'contrib_text.json')) as file:
    RECORDED = json.load(file)
FOUND = json.loads(json.dumps(text_cases.values()))


@pytest.mark.parametrize('part', sorted(FOUND))
def test_values_of_1_9_1(part):
    assert FOUND[part] == RECORDED[part]


def test_a_corpus_of_1_9_1(tmp_path):
    with pytest.warns(UserWarning, match='not the published file'):
        found = text_cases.corpus(str(tmp_path), seq_len=4)
    assert json.loads(json.dumps(found)) == RECORDED['corpus']


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / 'vectors.txt'
    path.write_text('a 1 2\nb 3 4\n')
    return str(path)


def test_tokens_of_indices():
    vocabulary = text.vocab.Vocabulary(collections.Counter('aab'))
    assert vocabulary.to_tokens([2, 0, np.int64(1)]) == ['b', '<unk>', 'a'] and vocabulary.to_tokens(1) == 'a'
    for wrong in (3, [0, 9], 'a', None, 1.5):
        with pytest.raises(ValueError):
            vocabulary.to_tokens(wrong)
    with pytest.raises(TypeError):
        vocabulary.to_indices([['a']])
    for wrong in ({'a': 1}, ['a'], 3):
        with pytest.raises(AssertionError):
            text.vocab.Vocabulary(wrong)


def test_counts_join_a_counter():
    counter = collections.Counter('a')
    assert text.utils.count_tokens_from_str('a b', counter_to_update=counter) is counter and counter['a'] == 2
    with pytest.raises(ValueError):
        text.utils.count_tokens_from_str('a', counter_to_update={'a': 1})


def test_tokens_that_are_there_before_the_file_keep_their_index(vectors):
    found = text.embedding.CustomEmbedding(vectors, reserved_tokens=['<pad>', 'b'])
    assert found.idx_to_token == ['<unk>', '<pad>', 'b', 'a']
    assert found.idx_to_vec.asnumpy().tolist() == [[0, 0], [0, 0], [3, 4], [1, 2]]


def test_wrong_files(tmp_path):
    empty = tmp_path / 'empty.txt'
    empty.write_text('')
    for wrong in (str(tmp_path / 'none.txt'), str(tmp_path), str(empty)):
        with pytest.raises(ValueError):
            text.embedding.CustomEmbedding(wrong)
    latin = tmp_path / 'latin.txt'
    latin.write_bytes('é 1 2\n'.encode('latin-1'))
    with pytest.raises(UnicodeDecodeError):
        text.embedding.CustomEmbedding(str(latin))
    assert text.embedding.CustomEmbedding(str(latin), encoding='latin-1').idx_to_token == ['<unk>', 'é']
    tabs = tmp_path / 'tabs.txt'
    tabs.write_text('a\t1\t2\n')
    assert text.embedding.CustomEmbedding(str(tabs), '\t').vec_len == 2


@pytest.mark.parametrize('tokens, new, error', [
    ('q', [5, 5], ValueError), (['a', 'q'], [[5, 5], [6, 6]], ValueError), (['a', 'b'], [5, 5], AssertionError),
    ('a', [5, 5, 5], AssertionError), (['a', 'b'], [[5, 5]], AssertionError), ('a', None, AssertionError)], ids=str)
def test_wrong_updates_change_nothing(vectors, tokens, new, error):
    found = text.embedding.CustomEmbedding(vectors)
    with pytest.raises(error):
        found.update_token_vectors(tokens, new if new is None else mx.nd.array(new))
    assert found.idx_to_vec.asnumpy().tolist() == [[0, 0], [1, 2], [3, 4]]
    with pytest.raises(AttributeError):
        found.idx_to_vec = 3


def test_no_tokens_give_no_vectors(vectors):
    assert text.embedding.CustomEmbedding(vectors).get_vecs_by_tokens([]).shape == (0, 2)


@pytest.mark.parametrize('kind, name, line', [('glove', 'glove.6B.50d.txt', 'a 1 2\n'), ('fasttext', 'wiki.simple.vec', '1 2\na 1 2\n')])
def test_published_files_that_lie_in_a_folder(tmp_path, kind, name, line):
    (tmp_path / kind).mkdir()
    (tmp_path / kind / name).write_text(line)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        found = text.embedding.create(kind, pretrained_file_name=name, embedding_root=str(tmp_path))
    assert found.idx_to_token == ['<unk>', 'a'] and any('not the published file' in str(w.message) for w in seen)
    assert name in text.embedding.get_pretrained_file_names(kind)
    with pytest.raises(KeyError):
        text.embedding.create(kind, pretrained_file_name='x')


def test_published_files_are_fetched_as_archives(tmp_path, monkeypatch):
    source = tmp_path / 'source' / 'gluon' / 'embeddings' / 'glove'
    source.mkdir(parents=True)
    with zipfile.ZipFile(source / 'glove.6B.zip', 'w') as archive:
        archive.writestr('glove.6B.100d.txt', 'a 1 2\n')
    monkeypatch.setattr(text.embedding, '_get_repo_url', lambda: (tmp_path / 'source').as_uri() + '/')
    monkeypatch.setattr(text.embedding.GloVe, 'pretrained_archive_name_sha1', {
        'glove.6B.zip': hashlib.sha1((source / 'glove.6B.zip').read_bytes()).hexdigest()})
    found = text.embedding.GloVe('glove.6B.100d.txt', embedding_root=str(tmp_path / 'here'))
    assert found.get_vecs_by_tokens('a').asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match='no member'):
        text.embedding.GloVe('glove.6B.50d.txt', embedding_root=str(tmp_path / 'here'))


def test_names_of_published_files():
    names = text.embedding.get_pretrained_file_names()
    assert (len(names['glove']), len(names['fasttext'])) == (10, 327)
    for wrong in ('x', 3, 'customembedding'):
        with pytest.raises(KeyError):
            text.embedding.get_pretrained_file_names(wrong)
    assert text.embedding.GloVe._get_download_file_name('glove.6B.50d.txt') == 'glove.6B.zip'
    assert text.embedding.GloVe._get_download_file_name('glove.840B.300d.txt') == 'glove.840B.300d.zip'
    assert text.embedding.FastText._get_download_file_name('crawl-300d-2M.vec') == 'crawl-300d-2M.zip'


def test_a_class_of_ones_own(vectors):
    @text.embedding.register
    class OwnVectors(text.embedding._TokenEmbedding):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self._load_embedding(vectors, ' ', mx.nd.zeros)

    assert len(text.embedding.create('OwnVectors')) == 3
    for wrong in ('nope', 3):
        with pytest.raises(AssertionError):
            text.embedding.create(wrong)
    with pytest.raises(AssertionError):
        text.embedding.register(3)


def test_composites(vectors):
    one = text.embedding.CustomEmbedding(vectors)
    vocabulary = text.vocab.Vocabulary(collections.Counter('ab'))
    assert text.embedding.CompositeEmbedding(vocabulary, one).vec_len == 2
    for wrong in ((3, one), (vocabulary, []), (vocabulary, [3]), (vocabulary, None)):
        with pytest.raises(AssertionError):
            text.embedding.CompositeEmbedding(*wrong)
    with pytest.raises(AssertionError):
        text.embedding.CustomEmbedding(vectors, vocabulary=['a'])


def test_large_files_show_progress(vectors, monkeypatch, capsys):
    pytest.importorskip('tqdm')
    monkeypatch.setattr(text.embedding, '_LARGE_FILE', 0)
    assert len(text.embedding.CustomEmbedding(vectors)) == 3
    assert 'vectors.txt' in capsys.readouterr().err


@pytest.mark.filterwarnings('ignore')
def test_texts(tmp_path):
    for name, content in (('train', 'a b a\n'), ('valid', 'b c\n\n'), ('test', '')):
        (tmp_path / f'wiki.{name}.tokens').write_text(content)
    train = WikiText2(str(tmp_path), seq_len=1)
    assert len(train) == 3 and len(WikiText2(str(tmp_path), seq_len=99)) == 0
    held_out = WikiText103(str(tmp_path), 'validation', train.vocabulary, 2)
    assert held_out.vocabulary is train.vocabulary and held_out[0][1].asnumpy().tolist() == [0, 1]
    assert len(WikiText2(str(tmp_path), 'test', seq_len=1)) == 0
    batches = list(mx.gluon.data.DataLoader(train, 2))
    assert batches[0][0].shape == (2, 1) and batches[0][0].dtype == np.int32
    for kwargs, error in ((dict(segment='foo'), KeyError), (dict(seq_len=0), ValueError), (dict(seq_len=-1), ValueError),
                          (dict(seq_len=2.5), TypeError), (dict(seq_len='a'), TypeError), (dict(vocab=3), AttributeError)):
        with pytest.raises(error):
            WikiText2(str(tmp_path), **kwargs)


@pytest.mark.filterwarnings('ignore')
def test_texts_in_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / 'wikitext-2-v1.zip', 'w') as archive:
        archive.writestr('wikitext-2/wiki.train.tokens', 'a b\n')
    assert len(WikiText2(str(tmp_path), seq_len=1)) == 2
    assert (tmp_path / 'wiki.train.tokens').read_text() == 'a b\n'
    with pytest.raises(ValueError, match='no member'):
        WikiText2(str(tmp_path), 'test')
    (tmp_path / 'wikitext-103-v1.zip').write_bytes(b'junk')
    os.remove(tmp_path / 'wiki.train.tokens')
    with pytest.raises(ValueError, match='no zip or tar file'):
        WikiText103(str(tmp_path))
    assert not (tmp_path / 'wiki.train.tokens').exists()
