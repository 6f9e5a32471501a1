/*
 * Compression of gradients on their way between devices and machines: one or two bits for a value.
 * What these leave out is kept in a residual and added to the next gradient of the same device.
 *
 *   2bit   (Strom, Interspeech 2015) sent is threshold, 0 or -threshold: where gradient plus
 *          residual reach the threshold, and where not
 *   1bit   (Seide et al., Interspeech 2014) sent is 1 above the threshold, else -1
 *
 * LAYOUT     Codes fill words of 32 bits from the lowest bit on: value i of 2bit has bits
 *            2 * (i % 16) and the next of word i / 16, value i of 1bit has bit i % 32 of word
 *            i / 32. 2bit: 0 is nothing, 1 is threshold, 2 is -threshold. 1bit: 1 is 1, 0 is -1.
 *            Bits behind the last value are 0. Words are sent in the machine's byte order.
 */
#ifndef MXNET_KVSTORE_COMPRESSION_H_
#define MXNET_KVSTORE_COMPRESSION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/run_context.h"

namespace mxnet {
namespace kvstore {

struct Compression {
  enum Kind { kNone, kOneBit, kTwoBit };
  Kind kind = kNone;
  float threshold = 0.5f;

  /*
   * "type": none, 1bit or 2bit; must be there. "threshold": a number; of 2bit above 0. Throws
   * Error(kValue) for anything else.
   */
  static Compression FromParams(const std::vector<std::pair<std::string, std::string>>& params);
  bool on() const { return kind != kNone; }
  /* The number of uint32 for so many values. */
  int64_t Words(int64_t values) const;
  /* The bytes of so many values of a dtype as they are sent: as codes, or as they are. */
  size_t Bytes(int64_t values, int dtype) const {
    return on() ? static_cast<size_t>(Words(values)) * 4 : static_cast<size_t>(values) * DTypeSize(dtype);
  }
};

/*
 * residual += in; bits = the codes of residual; residual -= what they say. `in` and `residual` are
 * float32 of one size, `bits` is uint32 of Words(size). All of them lie on the device of `run`.
 */
void Compress(const RunContext& run, const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits);
/* out (float32) = what the codes say. */
void Decompress(const RunContext& run, const Compression& how, const TBlob& bits, const TBlob& out);

/*
 * The same through the engine. An empty (none) residual is made, of zeros; an empty `bits` is made
 * too. Throws Error(kType) for a gradient that is not float32.
 */
void Compress(const Compression& how, const NDArray& in, NDArray* residual, NDArray* bits, int priority);
void Decompress(const Compression& how, const NDArray& bits, const NDArray& out, int priority);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_COMPRESSION_H_
