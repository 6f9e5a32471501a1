"""What the processor has, for tests of which implementation ran."""
from mxnet import doctor


def has_amx():
    """Does the library multiply bytes and bfloat16 by matrix tiles here?"""
    return doctor.report()["instructions"]["library"].endswith("AMX")
