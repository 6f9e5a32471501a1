"""Whatever is saved: what stays the same file, what is replaced as a whole, and what damaged files
answer."""
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet._files.whole_files import NewFile


def trained_trainer(units=3, optimizer="adam"):
    net = gluon.nn.Dense(units, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer)
    with autograd.record():
        loss = net(mx.nd.ones((2, 4))).sum()
    loss.backward()
    trainer.step(2)
    return net, trainer


def trained_module(units=3):
    symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=units, name="fc"), name="softmax")
    module = mx.mod.Module(symbol)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer="adam")
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 4))], [mx.nd.zeros((2,))]))
    module.update()
    return module


def save_record(path):
    record = mx.recordio.MXRecordIO(path, "w")
    record.write(b"some bytes")
    record.close()


def store_with_states():
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.Adam())
    store.init("w", mx.nd.ones((3, 4)))
    store.push("w", mx.nd.ones((3, 4)))
    return store


def save_profile(path):
    mx.profiler.set_config(filename=path, profile_all=True)
    mx.profiler.set_state("run")
    mx.nd.ones((2, 2)).wait_to_read()
    mx.profiler.set_state("stop")
    mx.profiler.dump()


WRITERS = {
    "nd.save": lambda path: mx.nd.save(path, {"a": mx.nd.arange(6)}),
    "sym.save": lambda path: mx.sym.Variable("x").exp().save(path),
    "save_parameters": lambda path: trained_trainer()[0].save_parameters(path),
    "trainer.save_states": lambda path: trained_trainer()[1].save_states(path),
    "module.save_optimizer_states": lambda path: trained_module().save_optimizer_states(path),
    "kv.save_optimizer_states": lambda path: store_with_states().save_optimizer_states(path),
    "record": save_record,
    "profiler.dump": save_profile,
}
writers = pytest.mark.parametrize("save", WRITERS.values(), ids=WRITERS)


def parts(folder):
    return [name for name in os.listdir(folder) if name.endswith(".part")]


@writers
def test_links_devices_and_pipes_stay(save, tmp_path):
    link, target, pipe = tmp_path / "link", tmp_path / "target", tmp_path / "pipe"
    target.write_bytes(b"old")
    link.symlink_to(target.name)
    save(str(link))
    assert link.is_symlink() and target.read_bytes() not in (b"", b"old")
    (tmp_path / "dangling").symlink_to("made")
    save(str(tmp_path / "dangling"))
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "made").stat().st_size > 0
    save(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    save(str(pipe))
    reader.join(60)
    assert got and got[0] and stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert not parts(tmp_path)


@writers
def test_owner_and_mode_stay(save, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    before = path.stat()
    save(str(path))
    after = path.stat()
    assert path.read_bytes() != b"old"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@writers
def test_a_new_file_has_the_mode_of_the_mask(save, tmp_path):
    mask = os.umask(0o027)
    try:
        save(str(tmp_path / "new"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@writers
def test_who_holds_an_empty_file_open_reads_what_was_saved(save):
    with tempfile.NamedTemporaryFile() as held:
        save(held.name)
        held.seek(0)
        assert held.read()


@writers
def test_readers_of_the_old_file_keep_it(save, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with open(path, "rb") as held:
        save(str(path))
        assert held.read() == b"old" and path.read_bytes() != b"old"


@writers
def test_a_full_disk_is_an_error(save):
    with pytest.raises(OSError):
        save("/dev/full")


@writers
def test_names_as_long_as_names_can_be(save, tmp_path):
    path = str(tmp_path / ("n" * 255))
    save(path)
    save(path)
    assert os.path.getsize(path) > 0


LIMITED = """
import resource, signal, sys
import numpy as np
import mxnet as mx
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, how = sys.argv[1:]
big = mx.nd.array(np.random.rand(200000))
if how == "states":
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    updater(0, big, big.copy())
    store = mx.kv.create("local")
    store._updater = updater
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
try:
    if how == "nd.save":
        mx.nd.save(path, [big])
    elif how == "states":
        store.save_optimizer_states(path)
    else:
        record = mx.recordio.MXRecordIO(path, "w")
        try:
            for _ in range(20):
                record.write(bytes(10000))
        finally:
            del record
except OSError as error:
    print("refused")
"""


@pytest.mark.parametrize("old", [b"old contents", b"", None])
@pytest.mark.parametrize("how", ["nd.save", "states", "record"])
def test_what_could_not_be_written_leaves_the_old_file(how, old, tmp_path):
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    run = subprocess.run([sys.executable, "-c", LIMITED, str(path), how], capture_output=True, text=True, timeout=300)
    assert run.stdout == "refused\n", run.stderr
    assert path.read_bytes() == old if old is not None else not path.exists()
    assert not parts(tmp_path)


def test_an_index_does_not_outlive_its_records(tmp_path, monkeypatch):
    index, path = tmp_path / "a.idx", tmp_path / "a.rec"
    record = mx.recordio.MXIndexedRecordIO(str(index), str(path), "w")
    record.write_idx(0, b"first")
    monkeypatch.setattr(record._target, "file", open("/dev/full", "wb", buffering=0))
    with pytest.raises(OSError):
        record.write_idx(1, b"second" * 20000)      # small ones are collected first
    with pytest.raises(OSError):
        record.write_idx(2, b"third")
    record.close()
    assert not index.exists()


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    script = ("import os, sys; import mxnet as mx\nif os.geteuid() == 0: os.setuid(65534)\n"
              "try:\n    mx.nd.save(sys.argv[1], mx.nd.ones(2))\nexcept OSError: print('refused')")
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:
        if os.stat(folder).st_uid == os.geteuid() and folder != folder.parent:
            folder.chmod(folder.stat().st_mode | 0o111)
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=300)
    assert run.stdout == "refused\n", run.stderr
    assert path.read_bytes() == b"old"


def test_new_file_after_an_error(tmp_path):
    file = NewFile(tmp_path / "file")
    file.discard()
    assert file.given_up and not os.listdir(tmp_path)
    file.close()
    assert not os.listdir(tmp_path)
    with pytest.raises(OSError, match="given up"):
        file.write(b"x")


# -- damaged files
DAMAGED = {"nothing": b"", "text": b"no states", "cut": None, "a list": pickle.dumps([1, 2]), "a pair": pickle.dumps(({}, 3))}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_states_name_their_file_and_change_nothing(kind, tmp_path):
    _, trainer = trained_trainer()
    module, store = trained_module(), store_with_states()
    for name, keeper, save, load in (("trainer", trainer, "save_states", "load_states"),
                                     ("module", module, "save_optimizer_states", "load_optimizer_states"),
                                     ("store", store, "save_optimizer_states", "load_optimizer_states")):
        good, bad = str(tmp_path / f"{name}.states"), tmp_path / f"{name}-damaged.states"
        getattr(keeper, save)(good)
        data = DAMAGED[kind] if kind != "cut" else open(good, "rb").read()[:-20]
        bad.write_bytes(data)
        with pytest.raises(mx.MXNetError, match=bad.name):
            getattr(keeper, load)(str(bad))
        getattr(keeper, save)(str(tmp_path / "again"))
        getattr(keeper, load)(good)
    with pytest.raises(OSError, match="absent"):
        trainer.load_states(str(tmp_path / "absent"))


def test_states_of_other_shapes_are_refused_when_they_are_loaded(tmp_path):
    path = str(tmp_path / "wide.states")
    trained_trainer(units=5)[1].save_states(path)
    net, trainer = trained_trainer(units=3)
    with pytest.raises(mx.MXNetError, match=r"wide\.states.*\(5,.*\(3,"):
        trainer.load_states(path)
    with autograd.record():
        loss = net(mx.nd.ones((2, 4))).sum()
    loss.backward()
    trainer.step(2)
    assert np.isfinite(net.weight.data().asnumpy()).all()


def test_states_of_other_shapes_are_refused_by_a_module(tmp_path):
    path = str(tmp_path / "wide.states")
    trained_module(units=5).save_optimizer_states(path)
    module = trained_module(units=3)
    with pytest.raises(mx.MXNetError, match=r"wide\.states.*\(5,.*\(3,"):
        module.load_optimizer_states(path)


def test_states_of_other_shapes_are_refused_by_an_updater_at_its_next_update(tmp_path):
    path = str(tmp_path / "states")
    store_with_states().save_optimizer_states(path)
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.Adam())
    store.init("w", mx.nd.ones((5, 4)))
    store.load_optimizer_states(path)
    with pytest.raises(mx.MXNetError, match=r"\(5, 4\)"):
        store.push("w", mx.nd.ones((5, 4)))


def test_damaged_indexes_and_csv_files_name_file_and_line(tmp_path):
    path, index = tmp_path / "a.rec", tmp_path / "a.idx"
    save_record(str(path))
    for text in (b"0\t0\nwrong\n", b"0\t0\n\xff\xfe\x00\n", b"0\t0\n1\n"):
        index.write_bytes(text)
        with pytest.raises(mx.MXNetError, match="a.idx, line 2"):
            mx.recordio.MXIndexedRecordIO(str(index), str(path), "r")
    csv = tmp_path / "a.csv"
    for text in (b"1,2,3\n4,5,x\n", b"1,2,3\n4,5\n", b"\xff\xfe\x00\x01\n" * 9):
        csv.write_bytes(text)
        with pytest.raises(mx.MXNetError, match="a.csv, line [12]: "):
            list(mx.io.CSVIter(data_csv=str(csv), data_shape=(3,), batch_size=2))


@pytest.mark.parametrize("how", ["export", "model", "module", "buckets"])
def test_a_network_is_not_replaced_before_its_parameters(how, tmp_path, monkeypatch):
    """Where parameters cannot be written, the files of the older network stay."""
    monkeypatch.chdir(tmp_path)
    module = trained_module()
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 3)))
    buckets = mx.mod.BucketingModule(lambda key: (module.symbol, ["data"], ["softmax_label"]), default_bucket_key=4)
    buckets.bind([("data", (2, 4))], [("softmax_label", (2,))])
    buckets.init_params()
    save = {"export": lambda: net.export("m"), "module": lambda: module.save_checkpoint("m", 0),
            "model": lambda: mx.model.save_checkpoint("m", 0, module.symbol, *module.get_params()),
            "buckets": lambda: buckets.save_checkpoint("m", 0)}[how]
    symbol_file = tmp_path / ("m-4-symbol.json" if how == "buckets" else "m-symbol.json")
    symbol_file.write_text("older")
    os.mkdir("m-0000.params")           # no file can take this name
    with pytest.raises(Exception, match="m-0000.params"):
        save()
    assert symbol_file.read_text() == "older"
    os.rmdir("m-0000.params")
    save()
    assert "nodes" in symbol_file.read_text() and os.path.getsize("m-0000.params")


def test_export_writes_parameters_in_the_order_of_the_graph(tmp_path):
    """As 1.9.1 does, so equal networks have equal bytes."""
    class Turned(gluon.HybridBlock):
        def __init__(self):
            super().__init__(prefix="t_")
            with self.name_scope():
                self.last, self.norm, self.first = gluon.nn.Dense(3), gluon.nn.BatchNorm(), gluon.nn.Dense(4)

        def hybrid_forward(self, F, x):
            return self.last(self.norm(self.first(x)))

    net = Turned()
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((2, 5)))
    net.export(str(tmp_path / "t"))
    assert list(mx.nd.load(str(tmp_path / "t-0000.params"))) == [
        "arg:t_dense1_weight", "arg:t_dense1_bias", "arg:t_batchnorm0_gamma", "arg:t_batchnorm0_beta",
        "aux:t_batchnorm0_running_mean", "aux:t_batchnorm0_running_var", "arg:t_dense0_weight", "arg:t_dense0_bias"]
