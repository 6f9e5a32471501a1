/*
 * Every environment variable, typed. The table `mxnet/env_table.inc` is the only list of variables;
 * this struct, the documentation, `mx.env` and `python -m mxnet.env` are generated from it.
 *
 * A member is the variable's name in lower case without MXNET_ (MXNET_CPU_WORKER_NTHREADS ->
 * cpu_worker_nthreads; NNVM_EXEC_MATCH_RANGE -> nnvm_exec_match_range; OMP_NUM_THREADS ->
 * omp_num_threads).
 *
 * START    The environment is read once, when the library is loaded. A bad value makes the import
 *          fail: MXCheckEnv and the first Env::Get() name the variable, its value and what is
 *          accepted. Empty means default.
 * THREADS  Get() is one load, from any thread. Set() is serialised, makes a new Env and publishes
 *          it; an Env that was handed out never changes and is never freed, so read a variable
 *          where you need it and do not keep the reference: it would not see later changes. Equal
 *          settings share one Env, so switching to and fro takes no memory.
 */
#ifndef MXNET_ENV_H_
#define MXNET_ENV_H_

#include <atomic>
#include <string>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {

struct EnvInfo {  // one row, as text, for listings
  std::string name, group, type, default_value, accepted, help, value,
      source;  // source: "default" | "environment" | "set_env" | "alias NAME"
  bool fixed_after_start = false;
};

struct MXNET_DLL Env {
#define MXNET_ENV(member, CType, ...) CType member{};
#include "mxnet/env_table.inc"
#undef MXNET_ENV

  /* Throws Error(kValue) as long as the environment that was read at load holds a bad value. */
  static const Env& Get() {
    const Env* env = current_.load(std::memory_order_acquire);
    return __builtin_expect(env != nullptr, 1) ? *env : GetSlow();
  }
  /* As Get(), but null where that would throw. */
  static const Env* Peek() { return current_.load(std::memory_order_acquire); }
  /*
   * Changes one variable from inside the process; "" restores the default. Throws Error(kValue) on
   * a bad value, on an unknown name, and when the change would alter what is fixed after start;
   * then nothing has changed.
   */
  static void Set(const std::string& name, const std::string& value);
  static std::vector<EnvInfo> List();
  /* One row of it. Throws Error(kValue) on an unknown name. */
  static EnvInfo Info(const std::string& name);

 private:
  static const Env& GetSlow();
  static std::atomic<const Env*> current_;
};

}  // namespace mxnet
#endif  // MXNET_ENV_H_
