#include "operator/indexing/checked_indices.h"

#include <sstream>
#include <vector>

#include "base/dtype.h"
#include "mxnet/op.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

[[noreturn]] void ThrowAt(const KernelArgs& args, const TBlob& indices, int64_t flat, double value, const IndexRange& range) {
  std::vector<int64_t> place(static_cast<size_t>(indices.shape.ndim()));
  for (int d = indices.shape.ndim(); d-- > 0; flat /= indices.shape[d]) place[d] = flat % indices.shape[d];
  std::ostringstream text;
  text.precision(17);
  text << "[" << args.attrs->op->name << "] index " << value << " at position (";
  for (size_t d = 0; d < place.size(); ++d) text << (d ? ", " : "") << place[d];
  text << (place.size() == 1 ? ",)" : ")") << " is out of range; ";
  if (range.size > range.low)
    text << "accepted: " << range.low << " to " << range.size - 1;
  else
    text << "there is nothing to take from";
  throw Error(Error::Kind::kIndex, text.str());
}

// The first entry that is not accepted, -1 when there is none.
template <typename T>
int64_t FirstOutside(const T* in, int64_t n, const IndexRange& range, double* value) {
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(in[i]);  // whole numbers beyond 2^53 are out of any range
    if ((range.low == 0 ? v > -1 : v >= static_cast<double>(range.low)) && v < static_cast<double>(range.size)) continue;
    if (v == range.ignored) continue;
    *value = v;
    return i;
  }
  return -1;
}

}  // namespace

void CheckIndexArray(KernelArgs& args, const TBlob& indices, const IndexRange& range) {
  const int64_t n = indices.Size();
  if (range.any || n == 0) return;
  TBlob host = indices;
  std::vector<char> copy;
  if (args.run.ctx.is_gpu()) {
    copy.resize(indices.Bytes());
    rtc::ReadBack(args.run, indices.dptr, copy.data(), copy.size());
    host.dptr = copy.data();
    host.ctx = Context::CPU();
  }
  int64_t outside = -1;
  double value = 0;
  VisitDType(host.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    outside = FirstOutside(host.data<T>(), n, range, &value);
  });
  if (outside >= 0) ThrowAt(args, indices, outside, value, range);
}

}  // namespace mxnet
