#include "base/threads/determinism.h"

#include <algorithm>

#include "mxnet/env.h"

namespace mxnet {

int64_t FixedParts(int64_t most) {
  const int64_t wanted = Env::Get().enforce_determinism ? 16 : OmpMaxThreads();
  return std::max<int64_t>(1, std::min(most, wanted));
}

int LibraryThreads(int threads) { return Env::Get().enforce_determinism ? 1 : threads; }

}  // namespace mxnet
