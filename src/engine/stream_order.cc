#include "engine/stream_order.h"

#include <exception>

#include "base/device/device_interface.h"

namespace mxnet {
namespace engine {
SideStream::SideStream(const RunContext& run, bool wanted) : main_(run.stream), side_(run) {
  if (!wanted || run.aux_stream == nullptr) return;
  const StreamHooks* hooks = GpuInterface().streams.get();
  if (hooks == nullptr || hooks->order == nullptr) return;
  hooks->order(run.aux_stream, run.stream);
  side_.stream = run.aux_stream;
  side_.aux_stream = nullptr;
  split_ = true;
}

void SideStream::Join() {
  if (!split_) return;
  split_ = false;
  GpuInterface().streams->order(main_, side_.stream);
}

SideStream::~SideStream() {
  try {
    Join();
  } catch (const std::exception&) {
    // an error is on its way already, and the engine waits for both streams
  }
}

}  // namespace engine
}  // namespace mxnet
