"""No argument may crash the process: every exported function is called with null pointers and with
counts that do not fit, in forked children.

What a function takes is read from the headers, so new functions are covered when they are declared.
Run as a program (with the library's path), this file makes the calls and prints what went wrong,
one line each: it needs only ctypes, so that a fork is cheap.
"""
import ctypes
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HEADERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "..", "include", "mxnet", "c_*.h")
HANG_SECONDS = 300   # of one function; a guard, not a measure
INTEGERS = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "uint32_t": ctypes.c_uint32,
            "mx_uint": ctypes.c_uint32, "nn_uint": ctypes.c_uint32,
            "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "dim_t": ctypes.c_int64}
SIGNED = ("int", "int64_t", "dim_t")
# Handles that point to the caller's own memory, and those that only a machine with a GPU can make.
MEMORY = ("EngineVarHandle", "EngineFnPropertyHandle")
NOT_HERE = ("CudaModuleHandle", "CudaKernelHandle", "RtcHandle", "ConfigSpaces")
# What the declared type does not say.
KIND = {("MXCachedOpRegisterOpHook", "handle"): "CachedOpHandle", ("MXOpListDTypes", "op"): "OpHandle"}


def text_of_headers():
    text = "\n".join(open(path).read() for path in sorted(glob.glob(HEADERS)))
    return re.sub(r"/\*.*?\*/|//[^\n]*|\bDEFAULT\(\w+\)", "", text, flags=re.S)


class Parameter:
    def __init__(self, declaration, function, handles, callbacks):
        words = re.sub(r"\b(const|struct)\b", "", declaration).split()
        self.name = re.search(r"(\w+)(\[\d+\])?$", declaration.strip()).group(1)
        self.type = words[0].rstrip("*")
        self.stars, self.is_handle = "*" * declaration.count("*"), self.type in handles and self.type not in MEMORY
        is_pointer = "*" in declaration or "[" in declaration or self.type in MEMORY
        self.kind = "pointer" if is_pointer else "handle" if self.type in handles else "callback" if self.type in callbacks else "number"
        if (function, self.name) in KIND:
            self.kind, self.type = "handle", KIND[function, self.name]
        known = self.kind != "number" or self.type in INTEGERS or self.type in ("bool", "float", "double")
        assert known, "%s: what is a %s?" % (function, declaration)


def declared_functions():
    """{name: (result type, [Parameter])}"""
    text = text_of_headers()
    handles = set(re.findall(r"typedef (?:const )?void\* (\w+);", text))
    callbacks = set(re.findall(r"typedef \w+ \(\*(\w+)\)", text))
    functions = {}
    for result, name, parameters in re.findall(r"^MX\w*DLL ((?:const )?\w+ ?\*?) ?((?:MX|NN)\w+)\(([^;]*?)\);", text, flags=re.M):
        given = [p for p in re.split(r",", parameters.replace("\n", " ")) if p.strip() not in ("", "void")]
        functions[name] = result.strip(), [Parameter(p, name, handles, callbacks) for p in given]
    return functions


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.MXGetLastError.restype = ctypes.c_char_p
        self.keep = []   # memory that handles need

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        assert code == 0, "%s: %s" % (name, self.lib.MXGetLastError())

    def made(self, name, *arguments):
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    # ---- a valid handle of each kind

    def array(self):
        return self.made("MXNDArrayCreate64", (ctypes.c_int64 * 1)(3), 1, 1, 0, 0, 0)

    def operator(self):
        return self.made("NNGetOpHandle", b"negative")

    def symbol(self):
        variable = self.made("MXSymbolCreateVariable", b"x")
        symbol = self.made("MXSymbolCreateAtomicSymbol", self.operator(), 0, None, None)
        self.call("MXSymbolCompose", symbol, b"y", 1, None, (ctypes.c_void_p * 1)(variable))
        return symbol

    def executor(self):
        arrays = [(ctypes.c_void_p * 1)(self.array()) for _ in range(2)]
        executor = self.made("MXExecutorBind", self.symbol(), 1, 0, 1, arrays[0], arrays[1], (ctypes.c_uint32 * 1)(1), 0, None)
        self.call("MXExecutorForward", executor, 1)
        return executor

    def cached_op(self):
        op = self.made("MXCreateCachedOp", self.symbol())
        count, outputs = ctypes.c_int(), ctypes.c_void_p()
        self.call("MXInvokeCachedOp", op, 1, (ctypes.c_void_p * 1)(self.array()), ctypes.byref(count), ctypes.byref(outputs))
        return op

    def predictor(self):
        text = ctypes.c_char_p()
        self.call("MXSymbolSaveToJSON", self.symbol(), ctypes.byref(text))
        return self.made("MXPredCreate", text.value, None, 0, 1, 0, 1, (ctypes.c_char_p * 1)(b"x"),
                         (ctypes.c_uint32 * 2)(0, 1), (ctypes.c_uint32 * 1)(3))

    def onnx_model(self):
        """y = Relu(x), in protobuf's wire format."""
        def field(number, data):
            return bytes([number * 8 + 2, len(data)]) + data
        node = field(1, b"x") + field(2, b"y") + field(4, b"Relu")
        kind = field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x03"))))
        data = b"\x08\x08" + field(7, field(1, node) + field(11, field(1, b"x") + kind) + field(12, field(1, b"y"))) + field(8, b"\x10\x0e")
        return self.made("MXOnnxModelCreateFromBuffer", data, ctypes.c_size_t(len(data)), None, 1, 0)

    def onnx_value(self):
        return self.made("MXOnnxValueCreateTensor", self.array())

    def array_list(self):
        self.call("MXNDArraySave", b"arrays", 1, (ctypes.c_void_p * 1)(self.array()), None)
        data, out, length = open("arrays", "rb").read(), ctypes.c_void_p(), ctypes.c_uint32()
        self.call("MXNDListCreate", data, len(data), ctypes.byref(out), ctypes.byref(length))
        return out

    def record_file(self, function):
        writer = self.made("MXRecordIOWriterCreate", b"records")
        if "Reader" not in function:
            return writer
        self.call("MXRecordIOWriterFree", writer)
        return self.made("MXRecordIOReaderCreate", b"records")

    def data_iterator(self):
        with open("rows.csv", "w") as out:
            out.write("1\n2\n3\n")
        names = (ctypes.c_char_p * 3)(b"data_csv", b"data_shape", b"batch_size")
        values = (ctypes.c_char_p * 3)(b"rows.csv", b"(1,)", b"2")
        iterator = self.made("MXDataIterCreateIter", self.creator("MXListDataIters", "MXDataIterGetIterInfo", b"CSVIter"), 3, names, values)
        self.call("MXDataIterNext", iterator, ctypes.byref(ctypes.c_int()))
        return iterator

    def dataset(self):
        name, value = (ctypes.c_char_p * 1)(b"arr"), (ctypes.c_char_p * 1)(str(self.array().value).encode())
        creator = self.creator("MXListDatasets", "MXDatasetGetDatasetInfo", b"NDArrayDataset")
        return self.made("MXDatasetCreateDataset", creator, 1, name, value)

    def batchify_function(self):
        creator = self.creator("MXListBatchifyFunctions", "MXBatchifyFunctionGetFunctionInfo", b"StackBatchify")
        return self.made("MXBatchifyFunctionCreateFunction", creator, 0, None, None)

    def creator(self, list_all, info, name):
        count, creators, text = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_char_p()
        self.call(list_all, ctypes.byref(count), ctypes.byref(creators))
        for each in map(ctypes.c_void_p, creators[:count.value]):
            self.call(info, each, ctypes.byref(text), *(ctypes.byref(ctypes.c_void_p()) for _ in range(5)))
            if text.value == name:
                return each
        raise AssertionError("no %s" % name)

    def profile(self, function, parameter):
        domain = self.made("MXProfileCreateDomain", b"domain")
        return domain if parameter.name == "domain" else self.made("MXProfileCreateCounter"
                                                                   if "Counter" in function
                                                                   else "MXProfileCreateTask",
                                                                   domain, b"one")

    def context(self):
        self.keep.append((ctypes.c_int * 2)(1, 0))
        return ctypes.cast(self.keep[-1], ctypes.c_void_p)

    def handle(self, function, parameter, empty_arrays):
        if parameter.type in NOT_HERE:
            return ctypes.c_void_p()
        if parameter.type == "NDArrayHandle" and empty_arrays:
            return self.made("MXNDArrayCreateNone")
        make = {"NDArrayHandle": self.array, "SymbolHandle": self.symbol,
                "ExecutorHandle": self.executor, "CachedOpHandle": self.cached_op,
                "OpHandle": self.operator,
                "FunctionHandle": lambda: self.made("MXGetFunction", b"fill_element_0index"),
                "GraphHandle": lambda: self.made("NNGraphCreate", self.symbol()),
                "AtomicSymbolCreator": self.operator,
                "KVStoreHandle": lambda: self.made("MXKVStoreCreate", b"local"),
                "PredictorHandle": self.predictor,
                "NDListHandle": self.array_list,
                "OnnxModelHandle": self.onnx_model, "OnnxValueHandle": self.onnx_value,
                "RecordIOHandle": lambda: self.record_file(function),
                "DataIterHandle": self.data_iterator,
                "DataIterCreator": lambda: self.creator("MXListDataIters", "MXDataIterGetIterInfo", b"CSVIter"),
                "DatasetHandle": self.dataset, "BatchifyFunctionHandle": self.batchify_function,
                "DatasetCreator": lambda: self.creator("MXListDatasets", "MXDatasetGetDatasetInfo", b"GroupDataset"),
                "BatchifyFunctionCreator": lambda: self.creator("MXListBatchifyFunctions",
                                                                "MXBatchifyFunctionGetFunctionInfo", b"PadBatchify"),
                "RandomGeneratorHandle": lambda: self.made("MXRandomGeneratorCreate", ctypes.c_uint64(3)),
                "ProfileHandle": lambda: self.profile(function, parameter),
                "ContextHandle": self.context, "DLManagedTensorHandle": lambda: self.made("MXNDArrayToDLPack", self.array()),
                "DLManagedTensorVersionedHandle": lambda: self.made("MXNDArrayToDLPackVersioned",
                                                                    self.array(), ctypes.c_int64(0),
                                                                    ctypes.c_bool(False))}
        assert parameter.type in make, "no way is known to make a %s (of %s): add one" % (parameter.type, function)
        return make[parameter.type]()

    # ---- calls

    def argument(self, function, p, case):
        if p.kind == "handle":
            return self.handle(function, p, case["empty_arrays"]) if case["handles"] else ctypes.c_void_p()
        if p.kind == "pointer" and case["pointers"] and p.name != case["null"]:
            memory = ctypes.create_string_buffer(4096)   # zeros: an empty text, or a list of null pointers; room for any result
            if case["filled"] and p.stars == "*" and p.is_handle or p.stars == "**" and p.type == "char":
                entries = [self.handle(function, p, case["empty_arrays"]) if p.is_handle else ctypes.c_char_p(b"x") for _ in range(3)]
                for at, entry in enumerate(entries):
                    ctypes.c_void_p.from_buffer(memory, at
                                                * ctypes.sizeof(ctypes.c_void_p)).value = ctypes.cast(entry, ctypes.c_void_p).value
                self.keep.append(entries)
            self.keep.append(memory)
            return ctypes.cast(memory, ctypes.c_void_p)
        if p.kind in ("pointer", "callback"):
            return ctypes.c_void_p()
        if p.type in INTEGERS:
            number = 1 if p.name == "dev_type" else case["number"] if case["only"] in (None, p.name) else 0
            return INTEGERS[p.type](max(number, -1 if p.type in SIGNED else 0))
        return ctypes.c_bool(False) if p.type == "bool" else ctypes.c_double(0)

    def try_case(self, name, result, parameters, case):
        """What is wrong with how the function answers, or None."""
        arguments = [self.argument(name, p, case) for p in parameters]
        self.lib.NNAPISetLastError(b"")
        code = getattr(self.lib, name)(*arguments)
        message = self.lib.MXGetLastError()
        self.lib.MXNDArrayWaitAll()   # what it left to workers
        if result == "int" and code == -1 and not message.startswith(b"["):
            return "fails with the message %r" % message
        return None


def cases(parameters):
    def case(handles, number, pointers=False, null=None, filled=False, empty_arrays=False, only=None):
        return {"handles": handles, "number": number, "pointers": pointers, "null": null,
                "filled": filled, "empty_arrays": empty_arrays, "only": only}
    for handles in (False, True):
        for number in (0, 3, -1):
            yield case(handles, number)
            yield case(handles, number, pointers=True)
    for number, filled in ((0, False), (3, False), (3, True)):
        for p in parameters:
            if p.kind == "pointer":
                yield case(True, number, pointers=True, filled=filled, null=p.name)
    for number in (-1, 1):
        for p in parameters:
            if p.kind == "number":
                yield case(True, number, pointers=True, filled=True, only=p.name)
    for number in (0, 1, 3):
        for empty_arrays in (False, True):
            yield case(True, number, pointers=True, filled=True, empty_arrays=empty_arrays)


def in_child(library, name, result, parameters, report):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)   # some functions print
    os.dup2(1, 2)
    signal.alarm(HANG_SECONDS)
    try:
        for case in cases(parameters):
            os.write(report, ("?%s\n" % case).encode())
            wrong = library.try_case(name, result, parameters, case)
            if wrong:
                os.write(report, ("!%s %s\n" % (case, wrong)).encode())
    except Exception as e:   # pylint: disable=broad-except
        os.write(report, ("!%s: %s\n" % (type(e).__name__, e)).encode())


def exercise(library, name, result, parameters):
    """One child makes all calls of one function, so that what they change hurts no other. What was
    wrong."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        in_child(library, name, result, parameters, writer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as f:
        lines = f.read().splitlines()
    status = os.waitpid(child, 0)[1]
    wrong = ["%s: %s" % (name, line[1:]) for line in lines if line.startswith("!")]
    if os.WIFSIGNALED(status):
        last = [line[1:] for line in lines if line.startswith("?")][-1:]
        wrong.append("%s: signal %d (%s) with %s" % (name, os.WTERMSIG(status), signal.Signals(os.WTERMSIG(status)).name, "".join(last)))
    elif status:
        wrong.append("%s: the process ended with status %d" % (name, status))
    return wrong


def exported_functions(path):
    names = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    return {n for n in names if re.match(r"(MX|NN)[A-Z]\w*$", n)}


def main(path):
    functions = declared_functions()
    library = Library(path)
    os.chdir(tempfile.mkdtemp())
    chosen = sys.argv[2:] or sorted(functions)
    try:
        for name in chosen:
            print("\n".join(exercise(library, name, *functions[name])) or name, flush=True)
    finally:
        shutil.rmtree(os.getcwd())


if __name__ == "__main__":
    main(sys.argv[1])
else:
    import pytest
    from mxnet.base import _LIB

    def test_no_null_argument_ends_the_process():
        ran = (subprocess.run([sys.executable, os.path.abspath(__file__),
                               os.path.abspath(_LIB._name)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False))
        assert ran.returncode == 0, ran.stderr.decode()
        lines = ran.stdout.decode().splitlines()
        assert [line for line in lines if ":" in line] == []
        assert lines == sorted(declared_functions())

    @pytest.mark.skipif(not shutil.which("nm"), reason="no nm")
    def test_every_exported_function_is_declared():
        assert exported_functions(_LIB._name) - set(declared_functions()) == set()
