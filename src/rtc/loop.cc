#include "rtc/loop.h"

#include <algorithm>

#include "base/device/device_interface.h"
#include "mxnet/error.h"
#include "rtc/prelude.h"
#include "rtc/source.h"

namespace mxnet {
namespace rtc {
namespace {

const Kernel& Find(const LoopKernel& kernel, const char* index) {
  TemplateArguments arguments;
  if (index) arguments.Type("I");
  for (int d : kernel.dtypes) arguments.Type(d);
  for (int64_t v : kernel.values) arguments.Value(v);
  for (const std::string& t : kernel.types) arguments.Type(t.c_str());
  const std::string name = kernel.entry ? kernel.entry : kernel.name;
  return FindKernel(name + arguments.text() + (index ? index : " rows"), [&](Kernel* k) {
    k->name = name;
    k->source = Source(kernel.file) + "#line 1 \"" + name + "\"\n" + (index ? std::string("typedef ") + index + " I;\n" : std::string()) +
                "typedef kernels::" + kernel.name + arguments.text() + " Kernel;\n" +
                EntryPoint(name, index ? "mx::EachItem<Kernel, I>(a);" : "mx::EachRow<Kernel>(a);");
  });
}
LaunchShape CoverRows(int64_t rows) {
  LaunchShape shape;
  shape.block[0] = kRowThreads;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(rows, int64_t{1} << 20));
  return shape;
}

}  // namespace

void LaunchItems(const RunContext& run, const LoopKernel& kernel, int64_t items, Arguments* args) {
  if (items == 0) return;
  args->Add(items);
  Launch(Find(kernel, items < kLargeCount ? "unsigned" : "long long"), Cover(items), args, run);
}

void LaunchRows(const RunContext& run, const LoopKernel& kernel, int64_t rows, Arguments* args) {
  if (rows == 0) return;
  args->Add(rows);
  Launch(Find(kernel, nullptr), CoverRows(rows), args, run);
}

void AddDivisor(int64_t d, bool large, Arguments* args) {
  const FastDivisor divisor(large ? 1 : std::max<int64_t>(d, 1));
  args->Add(d).Add(divisor.multiplier).Add(divisor.shift);
}

void ReadBack(const RunContext& run, const void* src, void* dst, size_t bytes) {
  const LaunchHooks* hooks = GpuInterface().kernels.get();
  MXNET_CHECK(hooks && hooks->read) << "[rtc] reading from " << run.ctx << ": this build has no GPU support; accepted: cpu contexts";
  if (run.capture) ++run.capture->host_waits;
  MXNET_CHECK(!run.capturing()) << "[rtc] a stream that is being captured cannot be waited for";
  hooks->read(src, dst, bytes, run);
}

}  // namespace rtc
}  // namespace mxnet
