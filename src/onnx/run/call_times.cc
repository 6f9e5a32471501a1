#include "onnx/run/call_times.h"

#include <algorithm>
#include <cmath>

namespace mxnet {
namespace onnx {

int CallTimes::RangeOf(double elements) {
  const double range = std::log2(std::max(1.0, elements)) * kInOctave;
  return static_cast<int>(std::min(range, static_cast<double>(kInOctave * kOctaves - 1)));
}

void CallTimes::Put(double elements, double ns, Ranges* ranges) {
  Range& range = (*ranges)[static_cast<size_t>(RangeOf(elements))];
  range.ns = std::min(range.ns, ns);
  ++range.count;
}

double CallTimes::Near(double elements, const Ranges& ranges, int tell) {
  const int middle = RangeOf(elements);
  for (int off = 0; off <= kNear; ++off)
    for (const int at : {middle - off, middle + off}) {
      if (at < 0 || at >= static_cast<int>(ranges.size())) continue;
      const Range& range = ranges[static_cast<size_t>(at)];
      if (range.count >= tell) return range.ns;
    }
  return kUnknown;
}

void CallTimes::PutMade(double ns) {
  ++num_made_;
  made_ns_ = std::min(made_ns_, ns);
}

}  // namespace onnx
}  // namespace mxnet
