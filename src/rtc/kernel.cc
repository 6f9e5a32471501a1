#include "rtc/kernel.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/device/device_interface.h"
#include "mxnet/error.h"

namespace mxnet {
namespace rtc {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> by_signature;
  static Table* Get() {
    static Table* t = new Table();  // kernels are launched until the very end of the process
    return t;
  }
};

}  // namespace

const Kernel& FindKernel(const std::string& signature, const std::function<void(Kernel*)>& make) {
  Table* t = Table::Get();
  std::lock_guard<std::mutex> lock(t->mutex);
  std::unique_ptr<Kernel>& k = t->by_signature[signature];
  if (!k) {
    auto made = std::make_unique<Kernel>();
    make(made.get());
    k = std::move(made);
  }
  return *k;
}

Arguments& Arguments::Add(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return Put(bits);
}

Arguments& Arguments::Append(const Arguments& more) {
  for (int i = 0; i < more.count_; ++i) Put(more.slot_[i]);
  return *this;
}

Arguments& Arguments::Put(uint64_t bits) {
  MXNET_CHECK(count_ < kMax) << "[rtc] a kernel with more than " << kMax << " arguments";
  slot_[count_++] = bits;
  return *this;
}

void Launch(const Kernel& kernel, const LaunchShape& shape, Arguments* args, const RunContext& run) {
  const LaunchHooks* hooks = GpuInterface().kernels.get();
  MXNET_CHECK(hooks) << "[rtc] " << kernel.name << " on " << run.ctx << ": this build has no GPU support; accepted: cpu contexts";
  hooks->launch(kernel, shape, args->data(), args->bytes(), run);
}

LaunchShape Cover(int64_t items) {
  LaunchShape s;
  s.block[0] = 256;
  s.grid[0] = static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>((items + 255) / 256, int64_t{1} << 20)));
  return s;
}

}  // namespace rtc
}  // namespace mxnet
