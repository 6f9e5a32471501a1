#include "engine/stream_order.h"

#include <atomic>
#include <exception>

namespace mxnet {
namespace engine {
namespace {

std::atomic<StreamOrder> g_order{nullptr};

}  // namespace

StreamOrder GetStreamOrder() { return g_order.load(std::memory_order_acquire); }
void SetStreamOrder(StreamOrder order) { g_order.store(order, std::memory_order_release); }

SideStream::SideStream(const RunContext& run, bool wanted) : main_(run.stream), side_(run) {
  if (!wanted || run.aux_stream == nullptr || GetStreamOrder() == nullptr) return;
  GetStreamOrder()(run.aux_stream, run.stream);
  side_.stream = run.aux_stream;
  side_.aux_stream = nullptr;
  split_ = true;
}

void SideStream::Join() {
  if (!split_) return;
  split_ = false;
  GetStreamOrder()(main_, side_.stream);
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
