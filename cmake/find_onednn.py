"""Prints the prefix under which the installed PyPI package onednn-devel-cpu-gomp put its headers,
library and CMake files."""
import importlib.metadata

for entry in importlib.metadata.files("onednn-devel-cpu-gomp"):
    if entry.name == "dnnl-config.cmake":  # <prefix>/lib/cmake/dnnl/dnnl-config.cmake
        print(entry.locate().resolve().parents[3])
        break
