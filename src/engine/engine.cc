/* Which engine: by name, and the one of the process. */
#include "mxnet/engine.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/logging.h"
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

std::atomic<DependencyEngine*> process_engine_made{nullptr};

void EndProcess(int status) {
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(status);
}

/* Registered with the engine, so it runs before most exit handlers. */
void FinishAtExit(int status, void*) {
  // A library has ended the process inside an operation (libgomp does where it gets no thread),
  // which cannot finish any more.
  if (engine::InOperation()) EndProcess(status != 0 ? status : 1);
  process_engine_made.load(std::memory_order_acquire)->Shutdown();
}

/* Registered when the library is loaded, so it runs behind the other handlers: it may end the
 * process. */
void ReportAtExit(int status, void*) {
  DependencyEngine* made = process_engine_made.load(std::memory_order_acquire);
  if (made == nullptr) return;
  constexpr size_t kMostShown = 8;
  const std::vector<std::string> unread = made->Unread();
  if (unread.empty()) return;
  for (size_t i = 0; i < unread.size() && i < kMostShown; ++i)
    LogWarning("an operation failed, and the program ended without reading its result: " + unread[i]);
  if (unread.size() > kMostShown) LogWarning(std::to_string(unread.size() - kMostShown) + " more such failures");
  if (status == 0) EndProcess(1);
}

const int g_report_registered = on_exit(ReportAtExit, nullptr);

}  // namespace

void engine::FinishProcessEngine() {
  if (InOperation()) return;
  if (Engine* made = process_engine_made.load(std::memory_order_acquire)) made->NotifyShutdown();
}

Engine* Engine::Get() {
  // Never deleted: destructors of other static objects may still push. At exit its work is finished
  // and its threads end.
  static Engine* process_engine = [] {
    profiler::Running();  // decides about MXNET_PROFILER_AUTOSTART before there are workers: a fork must not find one of them deciding
    DependencyEngine* made = static_cast<DependencyEngine*>(Create(Env::Get().engine_type));
    process_engine_made.store(made, std::memory_order_release);
    on_exit(FinishAtExit, nullptr);
    return made;
  }();
  return process_engine;
}

void Engine::MarkDataWorker() { engine::SetDataWorker(); }

}  // namespace mxnet
