#include "imperative/own_thread.h"

#include <memory>
#include <thread>
#include <utility>

#include "base/device/device_interface.h"
#include "base/float_mode.h"
#include "profiler/called_for.h"

namespace mxnet {

void PushOnOwnThread(Engine::SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, const char* name) {
  const auto kept = std::make_shared<Engine::SyncFn>(std::move(fn));
  auto begin = [kept](RunContext run, OnComplete done) {
    const auto run_it = [kept, run, done, who = profiler::CalledFor()] {
      std::exception_ptr error;
      try {
        const FloatModeScope float_mode;
        const profiler::CalledForScope called_for(who);
        const StreamHooks* streams = run.ctx.is_gpu() ? GpuInterface().streams.get() : nullptr;
        if (streams) streams->set_device(run.ctx.dev_id);
        (*kept)(run);
        if (streams) streams->synchronize(run.stream);
      } catch (...) {
        error = std::current_exception();
      }
      *kept = nullptr;  // what it holds goes before anybody learns that it is done
      done(error);
    };
    try {
      std::thread(run_it).detach();
    } catch (...) {
      done(std::current_exception());
    }
  };
  Engine::Get()->PushAsync(std::move(begin), ctx, std::move(reads), std::move(writes), FnProperty::kAsync, 0, name);
}

}  // namespace mxnet
