#!/usr/bin/env python3
"""Folders of pictures to lists and record files; see ``python -m mxnet.tools.im2rec --help``."""
import sys

from mxnet.tools.im2rec import main

if __name__ == "__main__":
    sys.exit(main())
