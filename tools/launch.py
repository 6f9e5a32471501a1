#!/usr/bin/env python3
"""Starts a distributed job: python/mxnet/tools/launch.py, without importing the package."""
import os
import runpy

if __name__ == "__main__":
    runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "mxnet", "tools", "launch.py"),
                   run_name="__main__")
