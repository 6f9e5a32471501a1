#include "executor/plan/arena.h"

#include <algorithm>

#include "engine/change.h"
#include "mxnet/profiler.h"
#include "storage/device_memory.h"

namespace mxnet {

Arena::Arena(Context c) : var(engine::NewWorkspaceVariable(Engine::Get())), ctx(c) {}

Arena::~Arena() {
  StorageHandle block = handle;
  Engine::Get()->DeleteVariable([block](RunContext) { storage::FreeWithVariable(block); }, ctx.execution(), var);
}

void Arena::Reserve(size_t bytes) {
  size_t now = reserved.load();
  while (now < bytes && !reserved.compare_exchange_weak(now, bytes)) {
  }
}

void Arena::Provide(size_t bytes, const RunContext& run) {
  if (handle.size >= bytes) return;
  Free(run);
  profiler::MemoryScope memory("plan arena");
  handle = Storage::Get()->Alloc(std::max(bytes, reserved.load()), run.ctx);
}

void Arena::Free(const RunContext& run) {
  storage::FreeOnStream(handle, run);
  handle = StorageHandle();
}

}  // namespace mxnet
