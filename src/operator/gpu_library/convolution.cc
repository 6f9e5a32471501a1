#include "operator/gpu_library/convolution.h"

#include <algorithm>

#include "base/device/device_interface.h"
#include "base/dtype.h"
#include "mxnet/env.h"
#include "operator/matrix/move.h"

namespace mxnet {
namespace gpu_library {
namespace {

int AlignmentOf(std::initializer_list<const void*> pointers) {
  int bytes = 16;
  for (const void* p : pointers)
    while (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes)) bytes /= 2;
  return bytes;
}

// From (outer, channels, inner) to (outer, inner, channels) or back.
void Rearrange(const RunContext& run, const void* from, void* to, int64_t outer, int64_t channels, int64_t inner, bool to_last,
               size_t bytes) {
  const int axes[3] = {0, 2, 1};
  Permute(run, from, to_last ? Shape{outer, channels, inner} : Shape{outer, inner, channels}, axes, to, bytes);
}

// An operand of a convolution: as given, and as the engine reads or writes it.
struct Piece {
  const nn::Ordered* given;
  int64_t outer, channels, inner;
  bool result;
  void* used;
  int64_t count() const { return outer * channels * inner; }
};

// run(problem, operands) on float32 copies of the pieces, which have `dtype`.
template <typename Run>
void ConvolveInFloat32(const KernelArgs& args, ConvProblem problem, int dtype, const Piece (&pieces)[3], Run&& run) {
  problem.dtype = kFloat32;
  problem.alignment = 16;
  void* floats[3];
  for (int i = 0; i < 3; ++i) {
    floats[i] = args.workspace(static_cast<size_t>(pieces[i].count()) * sizeof(float));
    if (!pieces[i].result) ConvertOnDevice(args.run, pieces[i].used, dtype, floats[i], kFloat32, pieces[i].count());
  }
  ConvOperands all;
  all.src = floats[0], all.weight = floats[1], all.dst = floats[2];
  run(problem, all);
  for (int i = 0; i < 3; ++i)
    if (pieces[i].result) ConvertOnDevice(args.run, floats[i], kFloat32, pieces[i].used, dtype, pieces[i].count());
}

// False: no engine takes it with channels last, and nothing has been written.
bool ConvolveIn(const KernelArgs& args, const nn::ConvCall& call, bool channels_last, int tune, uint64_t megabytes,
                const Epilogue& epilogue) {
  const RunContext& run = args.run;
  const nn::ConvDims& d = call.dims;
  const size_t bytes = DTypeSize(call.dtype);
  ConvProblem problem;
  problem.pass = call.pass;
  problem.dims = d;
  problem.dtype = call.dtype;
  problem.device = run.ctx.dev_id;
  problem.channels_last = channels_last;  // of every tensor
  Piece pieces[3] = {{&call.src, d.batch, d.channels, d.InSize(), call.pass == nn::ConvPass::kBackwardData, nullptr},
                     {&call.weight, d.filters, d.channels / d.groups, d.KernelSize(), call.pass == nn::ConvPass::kBackwardWeights, nullptr},
                     {&call.dst, d.batch, d.filters, d.OutSize(), call.pass == nn::ConvPass::kForward, nullptr}};
  for (Piece& p : pieces) {
    p.used = p.given->ptr;
    if (p.given->channels_last == problem.channels_last || p.channels == 1 || p.inner == 1) continue;
    p.used = args.workspace(static_cast<size_t>(p.count()) * bytes);
    if (!p.result) Rearrange(run, p.given->ptr, p.used, p.outer, p.channels, p.inner, problem.channels_last, bytes);
  }
  ConvOperands operands;
  operands.src = pieces[0].used, operands.weight = pieces[1].used, operands.dst = pieces[2].used;
  problem.alignment = AlignmentOf({operands.src, operands.weight, operands.dst});

  const Env& env = Env::Get();
  auto run_engine = [&](const ConvProblem& p, const ConvOperands& o) {
    const ConvSettings settings = SettingsFor(p, tune, megabytes, env);
    const auto engine = ChooseEngine(
        p, settings,
        [&] {
          ConvOperands measured = o;  // an addend in the result's memory would be lost
          if (o.addend == o.dst) measured.dst = args.workspace(static_cast<size_t>(d.batch * d.filters * d.OutSize()) * bytes);
          return measured;
        },
        args.workspace, run);
    if (!engine) return false;
    GpuInterface().convolution.get()->run(p, *engine, o, engine->workspace ? args.workspace(engine->workspace) : nullptr, run);
    return true;
  };

  bool done = false;
  if (call.pass == nn::ConvPass::kForward && epilogue && (!epilogue.post || epilogue.post.kind == nn::EpilogueKind::kRelu) &&
      call.dtype != kFloat64) {
    ConvProblem whole = problem;
    ConvOperands all = operands;
    whole.addend = epilogue.addend != nullptr, whole.bias = epilogue.bias != nullptr, whole.relu = static_cast<bool>(epilogue.post);
    whole.bias_dtype = epilogue.bias ? epilogue.bias_dtype : kFloat32;
    all.addend = epilogue.addend, all.bias = epilogue.bias;
    if (epilogue.addend) whole.alignment = std::min(whole.alignment, AlignmentOf({epilogue.addend}));
    if (epilogue.bias) whole.alignment = std::min(whole.alignment, AlignmentOf({epilogue.bias}));
    done = run_engine(whole, all);
  }
  if (!done) {
    Epilogue rest = epilogue;
    if (epilogue.addend == operands.dst && epilogue.addend) {  // the convolution would write over it
      const size_t size = static_cast<size_t>(d.batch * d.filters * d.OutSize()) * bytes;
      void* kept = args.workspace(size);
      CopyBytes(run, epilogue.addend, kept, static_cast<int64_t>(size));
      rest.addend = kept;
    }
    if (!run_engine(problem, operands)) {
      if (channels_last) return false;
      ConvolveInFloat32(args, problem, call.dtype, pieces, run_engine);
    }
    const bool data = call.pass == nn::ConvPass::kBackwardData;
    const int64_t channels = data ? d.channels : d.filters, inner = data ? d.InSize() : d.OutSize();
    ApplyEpilogue(run, data ? operands.src : operands.dst, call.dtype, problem.channels_last ? d.batch * inner : d.batch, channels,
                  problem.channels_last ? 1 : inner, rest);
  }
  for (const Piece& p : pieces)
    if (p.result && p.used != p.given->ptr)
      Rearrange(run, p.used, p.given->ptr, p.outer, p.channels, p.inner, p.given->channels_last, bytes);
  return true;
}

}  // namespace

void Convolve(const KernelArgs& args, const nn::ConvCall& call, int tune, uint64_t megabytes, const Epilogue& epilogue) {
  // in the order of the images' result, a weight gradient in that of the images; engines for double
  // want planes
  const bool last = call.pass == nn::ConvPass::kBackwardData ? call.src.channels_last : call.dst.channels_last;
  if (last && call.dtype != kFloat64 && ConvolveIn(args, call, true, tune, megabytes, epilogue)) return;
  if (!last || !epilogue.addend) {
    ConvolveIn(args, call, false, tune, megabytes, epilogue);
    return;
  }
  // an addend lies as the result does: brought into planes like the others
  const nn::ConvDims& d = call.dims;
  Epilogue rest = epilogue;
  void* addend = args.workspace(static_cast<size_t>(d.batch * d.filters * d.OutSize()) * DTypeSize(call.dtype));
  Rearrange(args.run, epilogue.addend, addend, d.batch, d.filters, d.OutSize(), false, DTypeSize(call.dtype));
  rest.addend = addend;
  ConvolveIn(args, call, false, tune, megabytes, rest);
}

}  // namespace gpu_library
}  // namespace mxnet
