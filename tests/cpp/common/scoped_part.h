/* A part of a device's interface that a test puts in the place of the real one. */
#ifndef MXNET_TESTS_CPP_SCOPED_PART_H_
#define MXNET_TESTS_CPP_SCOPED_PART_H_

#include "base/device/device_interface.h"

namespace mxnet {

/* While it lives: `ScopedPart fake(GpuInterface().streams, &kFakeStreams);` */
template <typename Functions>
class ScopedPart {
 public:
  ScopedPart(DevicePart<Functions>& part, const Functions* functions) : part_(part), before_(part.Set(functions)) {}
  ~ScopedPart() { part_.Set(before_); }
  ScopedPart(const ScopedPart&) = delete;
  ScopedPart& operator=(const ScopedPart&) = delete;
  const Functions* before() const { return before_; }

 private:
  DevicePart<Functions>& part_;
  const Functions* const before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_SCOPED_PART_H_
