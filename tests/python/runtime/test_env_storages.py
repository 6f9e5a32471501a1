"""Variables of sparse arrays; test_env_acts.py says which variables there are."""
from env_effects import PRELUDE, acts, process, told

SPARSE = """
rows = mx.nd.array([[0, 1]]).tostype('csr')
graph = mx.sym.softmax(mx.sym.Variable('x', stype='csr'), name='s').bind(mx.cpu(), {'x': rows})
tell(probabilities=graph.forward()[0].asnumpy().tolist())
"""


@acts("MXNET_STORAGE_FALLBACK_LOG_VERBOSE")
def test_log_of_what_runs_dense():
    def log(**variables):
        return told(SPARSE, variables, process(PRELUDE + SPARSE, **variables).stderr)
    assert log().count("[softmax] has no sparse kernel for (csr) -> (default)") == 1
    assert "sparse kernel" not in log(MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0")


@acts("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING")
def test_log_of_storages():
    def log(**variables):
        return told(SPARSE, variables, process(PRELUDE + SPARSE, **variables).stderr)
    assert "[infer_storage_type]" not in log()
    assert "[infer_storage_type] s = softmax(csr) -> (default), on dense copies" in log(MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING="1")
