/* Which engine: by name, and the one of the process. */
#include "mxnet/engine.h"

#include <atomic>
#include <cstdlib>

#include "engine/dependency_engine.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"

namespace mxnet {

using engine::DependencyEngine;

Engine* Engine::Create(const std::string& type) {
  if (type == "NaiveEngine") return engine::CreateNaiveEngine();
  if (type == "ThreadedEngine") return engine::CreateThreadedEngine();
  if (type.empty() || type == "ThreadedEnginePerDevice") return engine::CreateThreadedEnginePerDevice();
  MXNET_THROW(Value) << "[engine] got the type '" << type << "'; accepted: NaiveEngine, ThreadedEngine, ThreadedEnginePerDevice";
}

namespace {
std::atomic<Engine*> process_engine_made{nullptr};
}

void engine::FinishProcessEngine() {
  if (Engine* made = process_engine_made.load(std::memory_order_acquire)) made->NotifyShutdown();
}

Engine* Engine::Get() {
  // Never deleted: destructors of other static objects may still push. At exit its work is finished and its threads end.
  static Engine* process_engine = [] {
    profiler::Running();   // decides about MXNET_PROFILER_AUTOSTART before there are workers: a fork must not find one of them deciding
    Engine* made = Create(Env::Get().engine_type);
    process_engine_made.store(made, std::memory_order_release);
    std::atexit([] { static_cast<DependencyEngine*>(Get())->Shutdown(); });
    return made;
  }();
  return process_engine;
}

void Engine::MarkDataWorker() { engine::SetDataWorker(); }

}  // namespace mxnet
