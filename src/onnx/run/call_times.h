/*
 * What calls of a model took, by plans and node by node.
 *
 * Calls whose inputs have about as many elements are compared. Elements say little else of the
 * time: a step of a decoder reads all weights for one token and a cache of any length, and a prompt
 * of few elements takes longer.
 */
#ifndef MXNET_ONNX_RUN_CALL_TIMES_H_
#define MXNET_ONNX_RUN_CALL_TIMES_H_

#include <array>
#include <cstddef>
#include <limits>

namespace mxnet {
namespace onnx {

/* All times are in nanoseconds. Its owner guards it. */
class CallTimes {
 public:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  void PutPlanned(double elements, double ns) { Put(elements, ns, &planned_); }
  void PutOnce(double elements, double ns) { Put(elements, ns, &once_); }
  /* Of a plan that was made. */
  void PutMade(double ns);
  /* The fastest call with about so many elements. kUnknown: too few were timed. */
  double Planned(double elements) const { return Near(elements, planned_, kTellPlanned); }
  double Once(double elements) const { return Near(elements, once_, kTellOnce); }
  /* To make a plan. */
  double Made() const { return num_made_ >= kTellMade ? made_ns_ : kUnknown; }

 private:
  static constexpr int kTellPlanned = 2, kTellOnce = 3, kTellMade = 2;  // the first prepares, or packs weights
  static constexpr int kInOctave = 4, kOctaves = 48;
  static constexpr int kNear = 2;  // ranges beside the one in question
  struct Range {
    double ns = kUnknown;
    int count = 0;
  };
  using Ranges = std::array<Range, static_cast<size_t>(kInOctave) * kOctaves>;

  static int RangeOf(double elements);
  static void Put(double elements, double ns, Ranges* ranges);
  static double Near(double elements, const Ranges& ranges, int tell);

  Ranges planned_, once_;
  int num_made_ = 0;
  double made_ns_ = kUnknown;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_CALL_TIMES_H_
