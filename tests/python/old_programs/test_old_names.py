"""Names that programs of 1.x import: `import *` of every module, what published packages use, and
what is said of names that are not there."""
import importlib
import importlib.util
import os
import pickle
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

import mxnet as mx
from mxnet._startup import names as _names
from record_names import reaches, star_names

DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data')


def waiting():
    """{name or beginning of names: issue} of what may be missing."""
    with open(os.path.join(DATA, 'names_waiting.txt')) as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith('#')]
    return {name: row[0] for row in rows for name in row[1:]}


WAITING = waiting()


def usual(path):
    """A dotted name without the synonyms of modules: what waits is listed once."""
    for old, new in (('mxnet.nd.', 'mxnet.ndarray.'), ('mxnet.sym.', 'mxnet.ndarray.'),
                     ('mxnet.symbol.', 'mxnet.ndarray.'),
                     ('mxnet.contrib.ndarray', 'mxnet.ndarray.contrib'),
                     ('mxnet.contrib.symbol', 'mxnet.ndarray.contrib'),
                     *((f'mxnet.ndarray.gen_{kind}', f'mxnet.ndarray.{kind}')
                       for kind in ('op', 'contrib', 'image', 'linalg', '_internal')),
                     ('mxnet.ndarray.op.', 'mxnet.ndarray.'),
                     ('mxnet.np.', 'mxnet.numpy.'), ('mxnet.npx.', 'mxnet.numpy_extension.'),
                     ('mxnet.io.io.', 'mxnet.io.'), ('vision.datasets.', 'vision.'),
                     ('nn.basic_layers.', 'nn.')):
        path = (path + '.').replace(old, new, 1)[:-1] if (path + '.').startswith(old) or old.startswith(('vision', 'nn')) else path
    return path


def issue_of(path):
    """The issue that a dotted name waits for, None if it may not be missing."""
    path = usual(path)
    while path:
        if path in WAITING:
            return WAITING[path]
        path = path.rpartition('.')[0]
    return None


def test_import_star_gives_what_1_9_1_gave():
    lacking = {}
    for module, names in star_names(os.path.join(DATA, 'star_exports_1.9.1.txt')).items():
        if not reaches(module):
            if not issue_of(module):
                lacking[module] = 'no such module'
            continue
        space = {}
        exec(f'from {module} import *', space)
        missing = [n.rstrip('/') for n in names if n.rstrip('/') not in space and not issue_of(f'{module}.{n.rstrip("/")}')]
        if missing:
            lacking[module] = missing
    assert not lacking


def test_names_of_published_packages():
    with open(os.path.join(DATA, 'client_names.txt')) as names:
        names = names.read().split()
    missing = [name for name in names if not reaches(name)]
    assert len(names) == 651 and not [name for name in missing if not issue_of(name)]
    assert len(names) - len(missing) >= 535     # of 651 when this was written


def test_nothing_waits_in_vain():
    assert not [name for name in WAITING if reaches(name)]


def test_star_names_work():
    space = {}
    exec('from mxnet.test_utils import *\nfrom mxnet.autograd import *', space)
    assert space['os'] is os and space['sys'] is sys and space['mx'] is mx and space['np'] is np and space['rnd'] is np.random
    assert space['NDArray'] is mx.nd.NDArray and space['Symbol'] is mx.sym.Symbol
    from mxnet.metric import ndarray
    from mxnet.optimizer.optimizer import NDabs
    assert ndarray is mx.nd and NDabs(mx.nd.array([-2])).asscalar() == 2
    from mxnet.callback import save_checkpoint
    assert save_checkpoint is mx.model.save_checkpoint
    assert mx.nd.ndarray.get_oshape_of_gather_nd_op((2, 3, 4), (2, 5)) == (5, 4)
    assert mx.contrib.sym is mx.sym.contrib and importlib.import_module('mxnet.contrib.ndarray') is mx.nd.contrib
    assert mx.contrib.amp.lists.symbol_fp16.FP16_FUNCS == mx.amp.list_lp16_ops('float16')


def test_import_stays_small():
    """The table is read, nothing else: none of the modules that it names are imported."""
    code = ('import sys, mxnet; print([m for m in ("mxnet.gluon", "mxnet.symbol", "mxnet.io", '
            '"difflib", "mxnet.test_utils", "mxnet.util", "mxnet.numpy") if m in sys.modules])')
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                         check=True).stdout
    assert out.strip() == '[]'


@pytest.mark.parametrize('order', ['importlib, multiprocessing, concurrent, mxnet', 'mxnet, importlib, multiprocessing, concurrent',
                                   'mxnet, concurrent.futures, multiprocessing.pool, concurrent, multiprocessing, importlib'])
def test_parts_of_standard_packages_that_1x_had_imported(order):
    """Sockeye 2.3 names `multiprocessing.pool` after it imported mxnet and `multiprocessing`."""
    code = (f'import sys; sys.path[:0] = {sys.path!r}; import {order}; '
            'print(multiprocessing.pool.Pool, concurrent.futures.Future, importlib.util.find_spec)')
    subprocess.run([sys.executable, '-S', '-c', code], check=True)


def test_a_completed_package_keeps_its_loader_and_a_missing_one_is_an_import_error():
    code = (f'import sys; sys.path[:0] = {sys.path!r}; import mxnet, multiprocessing, inspect; from importlib import machinery; '
            'assert type(multiprocessing.__loader__) is machinery.SourceFileLoader is type(multiprocessing.__spec__.loader); '
            'assert "context" in inspect.getsource(multiprocessing); sys.meta_path[1:] = []\n'
            'try: import concurrent\nexcept ModuleNotFoundError as error: assert error.name == "concurrent"\n'
            'else: raise SystemExit("found")')
    subprocess.run([sys.executable, '-S', '-c', code], check=True)


def test_standard_packages_that_nobody_asks_for_are_not_loaded():
    code = 'import sys, mxnet; print("multiprocessing" in sys.modules or "concurrent" in sys.modules)'
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == 'False'


@pytest.mark.parametrize('code, words', [
    ('mx.npp', 'np'), ('mx.nd.Convolutoin', 'Convolution'),
    ('mx.metric.Acuracy', "nearest name is 'Accuracy'"),
    ('mx.sym.FullyConnectd', 'FullyConnected'), ('mx.nd.sotfmax', "'softmax'"),
    ('mx.gluon.nn.Dence', "'Dense'"), ('mx.opt', "'optimizer'"), ('mx.nd.fullyconnected', "'FullyConnected'"),
    ('mx.contrib.quantizaton', "nearest name is 'quantization'"),
    ('mx.npx.image.to_tensro', "numpy_extension.image.*'to_tensor'"),
    ('mx.gluon.Dense', "'mxnet.gluon.nn' has one"), ('mx.nd.contrib.box_nmss', "no such operator; the nearest name is 'box_nms'$"),
    ('mx.gluom', "^module 'mxnet' has no attribute 'gluom'; the nearest name is 'gluon'$")])
def test_misspelt_names_get_the_nearest(code, words):
    with pytest.raises(AttributeError, match=words) as caught:
        eval(code)
    assert repr(caught.value) == f'AttributeError({str(caught.value)!r})'


@pytest.mark.parametrize('code, words', [
    ("mx.optimizer.create('adan')", "the nearest name is 'adam'; known are"),
    ("mx.init.create('Xavir')", "the nearest name is 'xavier'"),
    ("mx.metric.create('acuracy')", "the nearest name is 'accuracy'"),
    ("mx.metric.create('zzzz')", "not registered; known are"),
    ("mx.gluon.model_zoo.vision.get_model('resnet19')", "the nearest name is 'resnet18_v"),
    ("mx.gluon.model_zoo.vision.get_model('resnet18v1')", "the nearest name is 'resnet18_v1'; one of")])
def test_misspelt_registered_names_get_the_nearest(code, words):
    with pytest.raises(ValueError, match=words):
        eval(code)


@pytest.mark.parametrize('statement, kind, words', [
    ('from mxnet import gluom', ImportError, "^cannot import name 'gluom' from 'mxnet'; the nearest name is 'gluon'$"),
    ('from mxnet.gluon.nn import Dence', ImportError, "'Dense'$"),
    ('from mxnet.autograd import recrod', ImportError, "'record'$"),
    ('from mxnet.ndarray import sotfmax', ImportError, "'softmax'$"),
    ('from mxnet.contrib import onnx', ImportError, "in MXNet 1.9.1, not here yet; use symbol"),
    ('import mxnet.gluom', ModuleNotFoundError, "^No module named 'mxnet.gluom'; the nearest name is 'mxnet.gluon'$"),
    ('import mxnet.gluon.dta', ModuleNotFoundError, "'mxnet.gluon.data'$")])
def test_misspelt_imports_get_the_nearest(statement, kind, words):
    if 'onnx' in statement and reaches('mxnet.contrib.onnx'):
        pytest.skip('it is here now')
    with pytest.raises(kind, match=words) as caught:
        exec(statement, {})
    if kind is ImportError:
        assert not isinstance(caught.value, ModuleNotFoundError) and caught.value.name in statement
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is kind and str(copied) == str(caught.value)
    lines = traceback.format_exception_only(caught.value)
    assert lines[0].startswith(kind.__name__ + ': ')          # no private module before it


def test_asking_for_names_is_no_error():
    for module in (mx, mx.nd, mx.gluon.nn, mx.autograd, mx.npx.image):
        assert not hasattr(module, 'nosuch') and getattr(module, 'nosuch', 3) == 3
    assert importlib.util.find_spec('mxnet.nosuch') is None
    assert importlib.util.find_spec('mxnet.gluon') is not None


def test_modules_are_listed_before_they_are_imported():
    """dir() of each package has its public modules, and each of them can be had."""
    code = '''
import importlib, pkgutil, mxnet
def walk(package):
    for found in pkgutil.iter_modules(package.__path__):
        if found.name[0] != "_":
            if found.name not in dir(package):
                print(package.__name__, found.name, "is not listed")
            if not hasattr(package, found.name):
                print(package.__name__, found.name, "is not found")
            if found.ispkg:
                walk(importlib.import_module(package.__name__ + "." + found.name))
walk(mxnet)'''
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout == ''


def test_operators_are_listed_before_they_are_asked_for():
    """Each name that dir() lists can be had; operators and the modules of 1.9.1 are among them."""
    code = '''
import mxnet as mx
for package in (mx.nd, mx.sym):
    listed = dir(package)
    print(sorted({"Activation", "FullyConnected", "abs", "zeros_like", "contrib", "gen_op", "gen_linalg", "sparse"} - {*listed}),
          [name for name in listed if not hasattr(package, name)])'''
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout == '[] []\n[] []\n'


def test_other_names_are_listed_before_they_are_asked_for():
    code = "import mxnet as mx, mxnet.model; print({'nd', 'ndarray', 'sym', 'symbol'} - {*dir(mx.contrib)}, 'FeedForward' in dir(mx.model))"
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout == 'set() True\n'


@pytest.mark.parametrize('code, use', [
    ('mx.image', 'OpenCV'), ('mx.np', 'NumPy'), ('mx.nd.linalg.syevd', 'numpy.linalg'),
    ('mx.nd.contrib.foreach', 'loop'),
    ('mx.nd.ROIPooling', ''), ('mx.onnx', 'symbol and parameter files'),
    ('mx.gluon.data.vision.transforms.Resize', 'transform'), ('mx.sym.Correlation', ''), ('mx.operator', 'autograd.Function')])
def test_what_is_not_here_yet_is_named(code, use):
    if reaches(code.replace('mx.', 'mxnet.', 1)):
        pytest.skip('it is here now')
    with pytest.raises(AttributeError, match='in MXNet 1.9.1, not here yet.*' + use):
        eval(code)


def test_import_of_a_module_that_is_not_here_yet():
    if reaches('mxnet.contrib.onnx'):
        pytest.skip('it is here now')
    with pytest.raises(ImportError, match='in MXNet 1.9.1, not here yet; use'):
        importlib.import_module('mxnet.contrib.onnx')
    with pytest.raises(ModuleNotFoundError, match='no_such_module'):
        importlib.import_module('mxnet.no_such_module')


def test_the_table_is_sound():
    """Every origin leads somewhere, and nothing is called missing that is there."""
    for module in _names._names:
        space = importlib.import_module(module)
        for name in _names._origins(module):
            assert hasattr(space, name), (module, name)
    there = [f'{module}.{name}' for module, names in _names._waiting.items()
             for name in names.split() if reaches(module) and reaches(f'{module}.{name}')]
    assert not there


# ---- names with effect

def test_current_scopes_can_be_assigned():
    before = mx.AttrScope._current.value
    mx.AttrScope._current.value = mx.AttrScope(ctx_group='stage')
    try:
        assert mx.sym.Variable('a').attr('ctx_group') == 'stage' and mx.AttrScope._current.value.get({}) == {'ctx_group': 'stage'}
        with mx.AttrScope(__x__='1'):
            assert mx.sym.Variable('a').attr('ctx_group') == 'stage' and mx.sym.Variable('a').attr('__x__') == '1'
        other = []
        thread = threading.Thread(target=lambda: other.append(mx.sym.Variable('a').attr('ctx_group')))
        thread.start()
        thread.join()
        assert other == [None]
    finally:
        mx.AttrScope._current.value = before
    assert mx.sym.Variable('a').attr('ctx_group') is None

    class Same(mx.name.NameManager):
        def get(self, name, hint):
            return name or 'same'

    before, mx.name.NameManager._current.value = mx.name.NameManager._current.value, Same()
    try:
        assert (mx.sym.Variable('a') + 1).name == 'same'
    finally:
        mx.name.NameManager._current.value = before
    before, mx.Context._default_ctx.value = mx.Context._default_ctx.value, mx.cpu(3)
    try:
        assert mx.nd.zeros((1,)).context == mx.cpu(3)
    finally:
        mx.Context._default_ctx.value = before


def test_contrib_functions():
    x = mx.nd.array([1, np.nan, np.inf, -np.inf], dtype='float16')
    for function, expected in ((mx.nd.contrib.isnan, [0, 1, 0, 0]),
                               (mx.nd.contrib.isinf, [0, 0, 1, 1]),
                               (mx.contrib.nd.isfinite, [1, 0, 0, 0])):
        assert function(x).asnumpy().tolist() == expected and function(x).dtype == np.float16
    assert (mx.nd.contrib.isfinite(mx.nd.array([3], dtype='int32')).asscalar() == 1
            and mx.nd.contrib.isinf(mx.nd.array([3], dtype='int32')).asscalar() == 0)


def test_rand_zipfian():
    """Formula and dtypes of 1.9.1; the expected counts of its classes 3 and 0, 1, 2, 4 are
    recorded."""
    sampled, true_count, sampled_count = mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 5)
    assert (sampled.dtype, true_count.dtype, sampled_count.dtype) == (np.int64, np.float64, np.float64)
    np.testing.assert_allclose(true_count.asnumpy(), [.49815515], 1e-7)
    recorded = {0: 1.54741123, 1: .90517754, 2: .64223369, 3: .49815515, 4: .40702239}
    np.testing.assert_allclose(sampled_count.asnumpy(), [recorded[c] for c in sampled.asnumpy().tolist()], 1e-7)
    mx.random.seed(3)
    many = mx.nd.contrib.rand_zipfian(mx.nd.array([0]), 60000, 5)[0].asnumpy()
    np.testing.assert_allclose(np.bincount(many, minlength=5) / 15000., [recorded[c] for c in range(5)], atol=.02)
    outputs = mx.sym.contrib.rand_zipfian(mx.sym.Variable('t'), 4, 5)
    out = mx.sym.Group(list(outputs)).bind(mx.cpu(), {'t': mx.nd.array([3])}).forward()
    assert out[0].dtype == np.int64 and out[0].shape == (4,)
    np.testing.assert_allclose(out[1].asnumpy(), [.49815515], 1e-7)


@pytest.mark.parametrize('key, shape, expected', [
    (1, (2, 3), ((1, slice(None)), -1)), ((Ellipsis, 1), (2, 3, 4),
                                          ((slice(None), slice(None), 1), -1)),
    ((None, 1), (2, 3), ((None, 1, slice(None)), -1)),
    ((1, Ellipsis), (2, 3, 4), ((1, slice(None), slice(None)), -1)),
    (Ellipsis, (2,), ((slice(None),), -1)), (True, (2, 3), ((slice(None), slice(None)), 1)),
    ((), (2, 3), ((slice(None), slice(None)), -1)), ((1, 2, 3), (2, 3), ((1, 2, 3), -1))])
def test_index_forms(key, shape, expected):
    assert mx.nd.ndarray.indexing_key_expand_implicit_axes(key, shape) == expected


def test_index_kinds():
    code = mx.nd.ndarray.get_indexing_dispatch_code
    assert (code((1, slice(None), None)), code((1, [2])), code((mx.nd.array([1]),)), code(('a',))) == (0, 1, 1, -1)
    with pytest.raises(AssertionError):
        code(1)
    with pytest.raises(IndexError, match='ellipsis'):
        mx.nd.ndarray.indexing_key_expand_implicit_axes((Ellipsis, Ellipsis), (2, 3))


def test_registry_of_optimizers_is_live():
    registry = mx.optimizer.Optimizer.opt_registry
    assert (registry is mx.optimizer.Optimizer.opt_registry and registry['sgd'] is mx.optimizer.SGD
            and mx.optimizer.SGD().opt_registry is registry)
    registry['mine'] = mx.optimizer.SGD
    try:
        assert type(mx.optimizer.create('mine')) is mx.optimizer.SGD
    finally:
        del registry['mine']


def test_symbols_are_nd_arrays_of_symbols():
    x = mx.sym.Variable('x')
    assert x.as_nd_ndarray() is x


def test_amp_says_whether_it_is_on():
    code = 'import mxnet as mx; from mxnet.contrib import amp; a = amp.amp._amp_initialized; amp.init(); print(a, amp.amp._amp_initialized)'
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout.split() == ['False', 'True']


def test_features_of_1_9_1():
    features = mx.runtime.Features()
    names = '''CUDA CUDNN NCCL CUDA_RTC TENSORRT CPU_SSE CPU_SSE2 CPU_SSE3 CPU_SSE4_1 CPU_SSE4_2 CPU_SSE4A CPU_AVX CPU_AVX2
    OPENMP SSE F16C JEMALLOC BLAS_OPEN BLAS_ATLAS
    BLAS_MKL BLAS_APPLE LAPACK MKLDNN OPENCV CAFFE PROFILER DIST_KVSTORE CXX14 INT64_TENSOR_SIZE SIGNAL_HANDLER DEBUG TVM_OP'''.split()
    assert list(features)[:len(names)] == names and not features.is_enabled('tvm_op') and features.is_enabled('openmp')
    assert repr(features).startswith('[') and {repr(f)[0] for f in mx.runtime.feature_list()} <= {'✔', '✖'}


def test_versions_compare_by_their_numbers():
    """Programs of 1.x compare texts, and as texts 1.10 comes before 1.3."""
    version = mx.__version__
    assert version > '1.9.1' and version >= '1.3' and '1.3.1' < version and not version < '1.3.1' and version <= '2'
    assert version == mx.libinfo.__version__ == str(version) and isinstance(version, str) and version < 'x'
    assert type(pickle.loads(pickle.dumps(version))) is str
