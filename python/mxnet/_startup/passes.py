"""Names of passes in the environment, checked when the package is imported: a plan is compiled much
later, and the library's module of variables does not know the passes."""
import ctypes
import os

# Variables that name passes, and what else each accepts.
VARIABLES = {"MXNET_PLAN_PASSES_OFF": [], "MXNET_PLAN_LOG_PASSES": ["all"]}


def wrong_name(library):
    """What is wrong with the first name of no pass, as a sentence; None where there is none."""
    given = {variable: os.environ[variable] for variable in VARIABLES if os.environ.get(variable, "").strip()}
    if not given:
        return None
    count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    if library.MXListPlanPasses(ctypes.byref(count), ctypes.byref(texts)):
        return None
    passes = [texts[i].decode() for i in range(0, count.value, 2)]
    for variable, text in given.items():
        accepted = VARIABLES[variable] + passes
        for name in text.split(","):
            name = name.replace(" ", "")
            if name and name not in accepted:
                return f"[plan] {variable} names the pass '{name}'; accepted: {', '.join(accepted)}"
    return None
