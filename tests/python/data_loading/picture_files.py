"""A fixture of test modules: the files that image_iter_programs.py writes. A module takes it with
`folder = picture_files.folder`."""
import image_iter_programs
import pytest

import mxnet as mx


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with pictures, lists of them, and records."""
    path = tmp_path_factory.mktemp("pictures")
    image_iter_programs.write_files(mx, path)
    return str(path)
