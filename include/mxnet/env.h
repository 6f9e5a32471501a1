/*
 * Every environment variable, typed. The table `src/base/env_table.inc` is the only list of variables; this
 * struct, the documentation, `mx.env` and `python -m mxnet.env` are generated from it.
 *
 * Env::Get() is read once when the library is loaded. A bad value makes loading fail (MXGetLastError and the
 * Python import name the variable, its value and what is accepted). Reading is lock-free; Set() is serialised.
 * A member is the variable's name in lower case without MXNET_ (MXNET_CPU_WORKER_NTHREADS -> cpu_worker_nthreads;
 * NNVM_EXEC_MATCH_RANGE -> nnvm_exec_match_range; OMP_NUM_THREADS -> omp_num_threads).
 */
#ifndef MXNET_ENV_H_
#define MXNET_ENV_H_

#include <string>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {

struct EnvInfo {                 // one row, as text, for listings
  std::string name, group, type, default_value, accepted, help, value, source;  // source: "default" | "environment" | "set_env" | "alias NAME"
  bool fixed_after_start = false;
};

struct MXNET_DLL Env {
#define MXNET_ENV(member, Type, ...) Type member;
#include "mxnet/env_members.inc"
#undef MXNET_ENV

  /* Throws Error(kValue) on first use when the environment holds a bad value. */
  static const Env& Get();
  /* Changes one variable from inside the process. Throws Error(kValue) on a bad value, on an unknown name, and for what is fixed after start. */
  static void Set(const std::string& name, const std::string& value);
  static std::vector<EnvInfo> List();
};

}  // namespace mxnet
#endif  // MXNET_ENV_H_
