"""What the processor has, for tests of which implementation ran."""
from mxnet import doctor


def has_amx():
    """Does the library multiply bytes and bfloat16 by matrix tiles here?"""
    return doctor.report()["instructions"]["library"].endswith("AMX")


def has_avx512():
    """Are vectors of 16 numbers what the library's kernels compute with here?"""
    return doctor.report()["instructions"]["library"].startswith("AVX-512")
