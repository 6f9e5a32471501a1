"""The contestants of score.py and train.py on a GPU: this library with CUDA graphs, PyTorch eager,
captured, and compiled. contestants.py runs them as processes."""

from contestants import LEARNING, Loaded, converted, cross_entropy, labels, torch_module

# name -> whose interpreter runs it. The graphs are captured by hand, so that compiled models get
# them too.
SCORE = {"ours": "ours", "torch": "peers", "torch graph": "peers", "torch compile": "peers",
         "torch compile graph": "peers", "torch max-autotune": "peers"}
TRAIN = {"ours": "ours", "torch": "peers", "torch graph": "peers", "torch compile": "peers", "torch max-autotune": "peers"}
DEFAULT_OFF = ("torch max-autotune",)   # minutes of compilation for each network, batch and type
DTYPES = dict.fromkeys(("score", "train"), ("float32", "tf32", "bfloat16", "float16"))
HALF = ("bfloat16", "float16")
# Outputs against this library's, relative to the largest: inference, losses of one training step
# (Dropout draws its own masks)
TOLERANCE = {"float32": 1e-3, "tf32": 5e-2, "bfloat16": 0.3, "float16": 0.1}
WARM_UP = 3   # calls before a capture


def takes(name, dtype):
    """Does the contestant compute in this type?"""
    return True


def environment(dtype):
    """What this library's process needs besides."""
    return {"MXNET_ENABLE_CUDA_GRAPHS": "1", "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION": "1" if dtype == "tf32" else "0"}


def paced(call, wait, each):
    """The function of a number of calls that `serve` wants: the device is waited for behind the
    last call, or with `each` behind every one."""
    def run(calls):
        for _ in range(calls):
            call()
            if each:
                wait()
        if not each:
            wait()
    return run


def _with_memory(free_and_total, before, loaded):
    """`loaded`, which tells how many MiB of the device's memory its process took."""
    loaded.device_mib = lambda: (before - free_and_total()[0]) / 2**20
    return loaded


# This library: (kind, folder, x, dtype, each) -> Loaded

def need_mxnet():
    """(the package, its first GPU); ends the process where there is none."""
    import mxnet as mx
    if mx.context.num_gpus() == 0:
        raise SystemExit("no GPU here for this library; accepted: a CUDA build and a GPU")
    return mx, mx.gpu(0)


def described(mx, folder, dtype):
    """(symbol's text, arrays by name) of a network in the type, made on the host."""
    from networks import load
    text, arrays = load(folder)
    return converted(mx, text, arrays, dtype) if dtype in HALF else (text, arrays)


def network(mx, ctx, text, arrays, gradients):
    """The block on the device, hybridized so that its calls are captured."""
    from networks import symbol_block
    net = symbol_block(mx, text, arrays, gradients, ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def inference(net, x, dtype):
    """A function that computes the network of an array on the device."""
    if x.ndim == 4 and dtype in HALF:
        x = x.astype(dtype)
    return lambda: net(x)


def training_step(mx, net, x, y):
    """A function that takes a step of SGD with momentum and gives the losses of before it."""
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd",
                               {"learning_rate": LEARNING["rate"], "momentum": LEARNING["momentum"],
                                "wd": LEARNING["decay"]})

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(x.shape[0])
        return loss
    return step


def score_mxnet(kind, folder, x, dtype, each):
    mx, ctx = need_mxnet()
    memory = lambda: mx.context.gpu_memory_info(ctx.device_id)
    before = memory()[0]
    net = network(mx, ctx, *described(mx, folder, dtype), False)
    compute = inference(net, mx.nd.array(x, ctx=ctx), dtype)
    return _with_memory(memory, before, Loaded(paced(compute, mx.nd.waitall, each), lambda: compute().astype("float32").asnumpy()))


def train_mxnet(kind, folder, x, dtype, each):
    mx, ctx = need_mxnet()
    memory = lambda: mx.context.gpu_memory_info(ctx.device_id)
    before = memory()[0]
    net = network(mx, ctx, *described(mx, folder, dtype), True)
    step = training_step(mx, net, mx.nd.array(x, ctx=ctx), mx.nd.array(labels(x), ctx=ctx))
    return _with_memory(memory, before, Loaded(paced(step, mx.nd.waitall, each),
                                               lambda: step().astype("float32").asnumpy().mean(keepdims=True)))


# PyTorch

def prepare_torch(dtype):
    """torch with the arithmetic that `dtype` names; ends the process where there is no CUDA."""
    import torch
    if not torch.cuda.is_available():
        raise SystemExit("this torch has no CUDA; accepted: an interpreter whose torch.cuda.is_available()")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype != "float32"
    torch.backends.cudnn.benchmark = True
    return torch


def _compiled(torch, kind, function):
    """`function` as the contestant's name says: as it is, or by Inductor, which needs triton."""
    if "compile" not in kind and "autotune" not in kind:
        return function
    try:
        import triton  # noqa: F401
    except ImportError as e:
        raise SystemExit(f"{kind} needs triton, and it is not installed here ({e})")
    # max-autotune would capture graphs of its own, which a step's in-place updates and the capture
    # here forbid
    return torch.compile(function, mode="max-autotune-no-cudagraphs" if "autotune" in kind else "default")


def _is_captured(kind):
    return "graph" in kind or "autotune" in kind


def capture(torch, call, before=lambda: None):
    """(the function that replays `call`, what `call` returned, which every replay writes again).
    `before` runs before the capture, behind the warm-up."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    before()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph.replay, result


def score_torch(kind, folder, x, dtype, each):
    torch = prepare_torch(dtype)
    memory = torch.cuda.mem_get_info
    before = memory()[0]
    images = x.ndim == 4
    net, x = torch_module(folder, images).eval().cuda(), torch.from_numpy(x).cuda()
    if dtype in HALF:
        net, x = net.to(getattr(torch, dtype)), x.to(getattr(torch, dtype)) if images else x
    if images:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    flops = None
    if kind == "torch":
        from torch.utils.flop_counter import FlopCounterMode
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            net(x[:1])
        flops = counter.get_total_flops()
    net = _compiled(torch, kind, net)

    def compute():
        with torch.inference_mode():
            return net(x)
    if not _is_captured(kind):
        return _with_memory(memory, before, Loaded(paced(compute, torch.cuda.synchronize, each),
                                                   lambda: compute().float().cpu().numpy(), flops))
    replay, result = capture(torch, compute)

    def output():
        replay()
        torch.cuda.synchronize()
        return result.float().cpu().numpy()
    return _with_memory(memory, before, Loaded(paced(replay, torch.cuda.synchronize, each), output))


def train_torch(kind, folder, x, dtype, each):
    torch = prepare_torch(dtype)
    memory = torch.cuda.mem_get_info
    before = memory()[0]
    images = x.ndim == 4
    net = torch_module(folder, images).train().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=LEARNING["rate"],
                                momentum=LEARNING["momentum"], weight_decay=LEARNING["decay"],
                                fused=True)
    x, y = torch.from_numpy(x).cuda(), torch.from_numpy(labels(x)).cuda()
    if images:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    begin = [t.detach().clone() for t in net.state_dict().values()]

    def forward(x, y):
        with torch.autocast("cuda", getattr(torch, dtype) if dtype in HALF else None,
                            enabled=dtype in HALF, cache_enabled=not _is_captured(kind)):
            return cross_entropy(torch, net(x), y)
    forward = _compiled(torch, kind, forward)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    if not _is_captured(kind):
        return _with_memory(memory, before, Loaded(paced(step, torch.cuda.synchronize, each),
                                                   lambda: step().float().cpu().numpy().reshape(1)))
    replay, loss = capture(torch, step, lambda: optimizer.zero_grad(set_to_none=True))   # gradients then lie in the graph's pool
    with torch.no_grad():   # the weights and averages of before the warm-up
        for now, then in zip(net.state_dict().values(), begin):
            now.copy_(then)
        for state in optimizer.state.values():
            state["momentum_buffer"].zero_()

    def output():
        replay()
        torch.cuda.synchronize()
        return loss.float().cpu().numpy().reshape(1)
    return _with_memory(memory, before, Loaded(paced(replay, torch.cuda.synchronize, each), output))


LOADERS = {"score": {"mxnet": score_mxnet, "torch": score_torch}, "train": {"mxnet": train_mxnet, "torch": train_torch}}
