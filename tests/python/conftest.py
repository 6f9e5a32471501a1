"""What all tests need of their process, and fixtures of several files."""
import signal

import pytest

# A shell lets jobs behind `&` ignore Ctrl-C, and programs that tests start inherit that. Those that
# try what Ctrl-C does would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def numpy_semantics():
    """NumPy's rules during a test. ``pytestmark = pytest.mark.usefixtures("numpy_semantics")`` in a
    file is for all of its tests."""
    from mxnet import npx
    npx.set_np()
    yield
    npx.reset_np()
