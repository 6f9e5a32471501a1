"""Writes tests/python/data/array_api.json: what version 2023.12 of the array API standard demands,
read off `array-api-strict` of PyPI.

    python -m venv /tmp/strict && /tmp/strict/bin/pip install array-api-strict
    /tmp/strict/bin/python tests/python/mx_np/record_array_api.py

The file holds names and parameters of functions and methods, and the dtypes of results.
"""

import inspect
import json
import pathlib
import warnings

import array_api_strict as xp

VERSION = "2023.12"
TARGET = pathlib.Path(__file__).parents[1] / "data" / "array_api.json"
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
NOT_STANDARD = {
    "ArrayAPIStrictFlags",
    "Device",
    "__version__",
    "__array_api_version__",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}


def parameters(function):
    """Name, kind and default (as text; None without one) of each parameter."""
    found = []
    for p in inspect.signature(function).parameters.values():
        default = (
            None
            if p.default is p.empty
            else "given"
            if "UNDEF" in repr(p.default)
            else repr(p.default)
        )
        found.append([p.name, p.kind.name, default])
    return found


def is_of_the_version(function):
    """Whether the version that is chosen has the function: the package refuses calls of others."""
    try:
        function()
    except RuntimeError:
        return False
    except Exception:  # pylint: disable=broad-except
        return True  # arguments were missing
    return True


def functions(module):
    """The functions of a module of the standard."""
    named = {n: getattr(module, n) for n in sorted(module.__all__) if n not in NOT_STANDARD}
    return {
        n: parameters(f) for n, f in named.items() if inspect.isfunction(f) and is_of_the_version(f)
    }


def members(array):
    """Methods and attributes of the array class."""
    cls, methods, attributes = type(array), {}, []
    for name in dir(cls):
        value = inspect.getattr_static(cls, name)
        if isinstance(value, property):
            attributes.append(name)
        elif (
            inspect.isfunction(value)
            and name not in dir(object)
            and (name == "to_device" or name.startswith("__"))
        ):
            methods[name] = parameters(value)
    for name in ("__array__", "__buffer__", "__iter__"):  # of that package, not of the standard
        methods.pop(name, None)
    return methods, attributes


def name_of(dtype):
    """The dtype's name."""
    return str(dtype).rsplit(".", 1)[-1]


def outcome(call):
    """Names of the dtypes of a result; None where the package refuses the call."""
    try:
        result = call()
    except (TypeError, ValueError):
        return None
    return (
        [name_of(r.dtype) for r in result]
        if isinstance(result, (tuple, list))
        else name_of(result.dtype)
    )


def is_demanded(name, dtype):
    """The package also takes dtypes for which the standard leaves functions undefined: integers
    where it demands floats, bools where it demands numbers."""
    text = str(dtype)
    return not (
        "int" in name and "float" in text or name == "bool" and ("int8" in text or "float" in text)
    )


def of_each_dtype(function, count):
    """Dtype of the result for `count` matrices of each dtype."""
    found = {}
    for name in DTYPES:
        array = xp.asarray([[1, 0], [0, 1]], dtype=getattr(xp, name))
        found[name] = outcome(lambda a=array: function(*[a] * count))
    return {
        name: dtype
        for name, dtype in found.items()
        if dtype is not None and is_demanded(name, dtype)
    }


def result_dtypes(module):
    """Dtypes of the results of functions of one or two arrays alone."""
    table = {}
    for name, rows in functions(module).items():
        needed = [
            p for p in rows if p[2] is None and p[1] in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
        ]
        arrays = [p for p in needed if p[0] in ("x", "x1", "x2")]
        if needed and len(arrays) == len(needed):
            found = of_each_dtype(getattr(module, name), len(needed))
            if found and "complex" not in str(found):
                table[name] = found
    return table


def promotion(one, other):
    """The dtype that two meet in."""
    try:
        return name_of(xp.result_type(getattr(xp, one), getattr(xp, other)))
    except TypeError:
        return None


def lines(table, depth):
    """A table as JSON: `depth` levels of tables with a line for each entry."""
    rows = []
    for key, value in sorted(table.items()):
        deeper = depth and isinstance(value, dict)
        text = (
            "{\n" + lines(value, depth - 1) + "\n}" if deeper else json.dumps(value, sort_keys=True)
        )
        rows.append(json.dumps(key) + ": " + text)
    return ",\n".join(rows)


def main():
    """Writes the file."""
    warnings.simplefilter("ignore")
    xp.set_array_api_strict_flags(api_version=VERSION)
    modules = {"": xp, "linalg": xp.linalg, "fft": xp.fft}
    methods, attributes = members(xp.asarray(1.0))
    info = xp.__array_namespace_info__()
    facts = {
        "version": VERSION,
        "functions": {name: functions(module) for name, module in modules.items()},
        "methods": methods,
        "attributes": attributes,
        "constants": [n for n in ("e", "inf", "nan", "newaxis", "pi") if hasattr(xp, n)],
        "dtypes": DTYPES,
        "capabilities": sorted(info.capabilities()),
        "results": {
            name: result_dtypes(module) for name, module in modules.items() if name != "fft"
        },
        "promotion": {one: {other: promotion(one, other) for other in DTYPES} for one in DTYPES},
    }
    TARGET.write_text("{\n" + lines(facts, 2) + "\n}\n")


if __name__ == "__main__":
    main()
