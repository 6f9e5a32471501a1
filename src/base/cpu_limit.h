/* What ONEDNN_MAX_CPU_ISA leaves of the processor's instructions: oneDNN obeys it, and so do the
 * kernels of this library (docs/explain.md). Read once; a word that oneDNN does not know limits
 * nothing, as there. */
#ifndef MXNET_BASE_CPU_LIMIT_H_
#define MXNET_BASE_CPU_LIMIT_H_

#include "base/cpu_dispatch.h"
#include "mxnet/base.h"

namespace mxnet {

struct CpuLimit {
  CpuLevel level = CpuLevel::kV4;  // at most
  bool vnni = true, bfloat16 = true, amx = true;
};
MXNET_DLL const CpuLimit& LimitOfCpu();
/* Are these instructions of AVX-512 there, and may they be used? */
MXNET_DLL bool HasVnni();
MXNET_DLL bool HasBfloat16();
/* The same of matrix tiles of bytes and of bfloat16. The first call asks the operating system to
 * keep them for this process's threads. */
MXNET_DLL bool HasAmx();

}  // namespace mxnet
#endif  // MXNET_BASE_CPU_LIMIT_H_
