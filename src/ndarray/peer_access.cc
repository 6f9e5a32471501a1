#include "ndarray/peer_access.h"

#include <atomic>
#include <mutex>

#include "base/threads/fork_guard.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

constexpr int kMostDevices = 64;
enum State : char { kUnknown, kDirect, kStaged };
ForkMutex* const g_settling = new ForkMutex(ForkLevel::kNDArray);
std::atomic<char> g_state[kMostDevices][kMostDevices];  // written under g_settling

}  // namespace

bool EnsurePeerAccess(int dst_dev, int src_dev, const PeerHooks& hooks) {
  if (dst_dev == src_dev || dst_dev < 0 || src_dev < 0 || dst_dev >= kMostDevices || src_dev >= kMostDevices) return false;
  if (!Env::Get().enable_gpu_p2p) return g_state[dst_dev][src_dev].load(std::memory_order_acquire) == kDirect;  // what is on stays on
  if (const char known = g_state[dst_dev][src_dev].load(std::memory_order_acquire)) return known == kDirect;
  std::lock_guard<ForkMutex> lock(*g_settling);
  if (const char known = g_state[dst_dev][src_dev].load(std::memory_order_relaxed)) return known == kDirect;
  // The driver copies directly when the device whose stream it is may reach the other one; which
  // one that is depends on the caller.
  const bool direct = hooks.possible(dst_dev, src_dev) && hooks.possible(src_dev, dst_dev) && hooks.enable(dst_dev, src_dev) &&
                      hooks.enable(src_dev, dst_dev);
  for (std::atomic<char>* state : {&g_state[dst_dev][src_dev], &g_state[src_dev][dst_dev]})
    state->store(direct ? kDirect : kStaged, std::memory_order_release);
  return direct;
}

}  // namespace mxnet
