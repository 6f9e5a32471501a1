"""Examples in docstrings of Python modules run and give what stands there."""
import doctest
import importlib
import inspect
import re

import pytest

import mxnet as mx

MODULES = ['contrib._calibration', 'contrib.autograd', 'contrib.io', 'contrib.quantization', 'contrib.safetensors',
           'contrib.svrg_optimization.svrg_module', 'contrib.tensorboard',
           'contrib.text.embedding', 'contrib.text.utils', 'contrib.text.vocab', 'contrib.torch', 'gluon.contrib.data.text',
           'gluon.contrib.estimator.batch_processor', 'gluon.contrib.estimator.estimator',
           'gluon.contrib.estimator.event_handler', 'gluon.metric', 'onnx._export.model']


@pytest.mark.parametrize('name', MODULES)
@pytest.mark.filterwarnings('ignore')
def test_examples_of_a_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module('mxnet.' + name)
    tried = 0
    for test in doctest.DocTestFinder().find(module, extraglobs={'mx': mx, 'collections': importlib.import_module('collections')}):
        said = []
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
        tried += result.attempted
        assert not result.failed, ''.join(said)
    assert tried


def test_convolution_documents_each_argument():
    text = mx.gluon.nn.Conv2D.__doc__
    for name in inspect.signature(mx.gluon.nn.Conv2D.__init__).parameters:
        assert name in ("self", "kwargs") or re.search(rf"^    (\w+, )?{name}(, \w+)? : ", text, re.M), name


def test_defaults_are_written_as_programmers_write_them():
    """The library prints the digits of 32 bits; 1.9.1's C interface has them too."""
    assert "momentum : float, optional, default=0.9\n" in mx.nd.BatchNorm.__doc__
    assert "epsilon : float, optional, default=1e-08\n" in mx.sym.adam_update.__doc__
    for module in (mx.nd, mx.sym):
        names = [name for name in dir(module) if callable(getattr(module, name, None))]
        assert len(names) > 250
        for name in names:
            text = getattr(module, name).__doc__ or ""
            assert not re.search(r"default=-?\d\.\d*(9999|0000)\d", text), name
