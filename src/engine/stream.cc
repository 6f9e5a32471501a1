#include "engine/stream.h"

#include <atomic>

namespace mxnet {
namespace engine {
namespace {
std::atomic<const StreamHooks*> g_hooks{nullptr};
}

const StreamHooks* GetStreamHooks() { return g_hooks.load(std::memory_order_acquire); }
void SetStreamHooks(const StreamHooks* hooks) { g_hooks.store(hooks, std::memory_order_release); }

}  // namespace engine
}  // namespace mxnet
