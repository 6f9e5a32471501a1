#include "operator/shared/on_host.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "base/device/device_interface.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "ndarray/run.h"
#include "ndarray/sparse_copy.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

class HostMemory {
 public:
  void* Take(size_t bytes) {
    blocks_.emplace_back(new double[std::max<size_t>(bytes / sizeof(double) + 1, 1)]);
    return blocks_.back().get();
  }

 private:
  std::vector<std::unique_ptr<double[]>> blocks_;
};

// The copy has read `src`, which is pageable memory, when it returns.
void Write(const RunContext& run, const void* src, void* dst, size_t bytes) {
  const CopyHooks* hooks = GpuInterface().copies.get();
  MXNET_CHECK(hooks) << "[copy] to " << run.ctx << ": this build has no GPU support; accepted: cpu contexts";
  hooks->copy(dst, run.ctx, src, Context::CPU(0), bytes, run.stream);
}

}  // namespace

void OnHost(KernelArgs& args, const std::function<void(KernelArgs&)>& compute) {
  if (!args.run.ctx.is_gpu()) return compute(args);
  if (args.run.capture) ++args.run.capture->host_waits;
  MXNET_CHECK(!args.run.capturing()) << "[" << args.attrs->op->name
                                     << "] computes on the host: a stream that is being captured cannot wait for it";
  if (profiler::Active() != 0) profiler::Mark("host_copy", args.attrs->op->name, "process");
  HostMemory memory;
  std::deque<TempParts> sparse;  // deque: growing keeps addresses
  std::vector<TBlob> in(args.in.begin(), args.in.end()), out(args.out.begin(), args.out.end());
  for (TBlob& b : in) {
    if (b.sparse) {
      sparse.emplace_back(*b.sparse, Context::CPU(0));
      CopyParts(*b.sparse, sparse.back().get(), args.run.stream);
      b.sparse = sparse.back().get(), b.ctx = Context::CPU(0);
      continue;
    }
    void* copy = memory.Take(b.Bytes());
    if (b.Size() != 0) rtc::ReadBack(args.run, b.dptr, copy, b.Bytes());
    b.dptr = copy, b.ctx = Context::CPU(0);
  }
  for (TBlob& b : out) {
    if (b.sparse)
      b.sparse = sparse.emplace_back(*b.sparse, Context::CPU(0)).get();
    else
      b.dptr = memory.Take(b.Bytes());
    b.ctx = Context::CPU(0);
  }
  KernelArgs call = args;
  call.run = RunContext{Context::CPU(0)};
  call.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  call.out = Span<const TBlob>(out.data(), static_cast<int>(out.size()));
  call.workspace = [&memory](size_t bytes) { return memory.Take(bytes); };
  compute(call);
  // what is updated in place, before results: one of these may be the same array
  for (int i : args.attrs->op->MutateInputs(*args.attrs)) {
    const TBlob &copy = in[static_cast<size_t>(i)], &array = args.in[i];
    if (copy.sparse)
      CopyParts(*copy.sparse, array.sparse, args.run.stream);
    else if (copy.Size() != 0)
      Write(args.run, copy.dptr, array.dptr, copy.Bytes());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].sparse && args.req[static_cast<int>(i)] != OpReq::kNull)
      CopyParts(*out[i].sparse, args.out[static_cast<int>(i)].sparse, args.run.stream);
    else if (args.req[static_cast<int>(i)] != OpReq::kNull && out[i].Size() != 0)
      Write(args.run, out[i].dptr, args.out[static_cast<int>(i)].dptr, out[i].Bytes());
  }
}

}  // namespace mxnet
