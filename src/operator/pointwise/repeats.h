/* Blocks of elements for operands that are broadcast. */
#ifndef MXNET_OPERATOR_POINTWISE_REPEATS_H_
#define MXNET_OPERATOR_POINTWISE_REPEATS_H_

#include <algorithm>
#include <cstdint>

namespace mxnet {
namespace pointwise {

/*
 * Operands that begin again after some elements, as an array of the last dimensions does when it is
 * broadcast to others. Blocks end with a turn of them, so that what was gathered for one block
 * serves those that follow. Operands of other periods than the first one are gathered each time.
 */
class Repeats {
 public:
  static constexpr int kMostOperands = 64;

  /* Blocks have at most so many elements. */
  explicit Repeats(int64_t most) : most_(most), block_(most) {}

  /* An operand that is gathered, with its steps along the dimensions of the result. */
  void Add(int operand, int ndim, const int64_t* dim, const int64_t* stride) {
    if (operand >= kMostOperands) return;
    // where it may begin again, the outermost turn that fits spans the most elements
    int64_t best = 0, best_span = 0, turn = 1;
    for (int d = ndim - 1; d >= 0 && 2 * turn <= most_;) {
      int64_t turns = 1, inside = turn;
      for (; d >= 0 && stride[d] == 0; --d) turns *= dim[d];
      if (inside > 1 && turns > 1 && (!operands_ || inside == period_)) best = inside, best_span = inside * turns;
      turn *= turns;
      for (; d >= 0 && stride[d] != 0; --d) turn *= dim[d];
    }
    if (best_span < 2 * most_) return;  // blocks that end with a span would be short, and gathered as often
    span_ = operands_ ? std::min(span_, best_span) : best_span;
    period_ = best;
    operands_ |= uint64_t{1} << operand;
    block_ = most_ / period_ * period_;
  }
  bool Has(int operand) const { return operand < kMostOperands && (operands_ >> operand & 1u); }
  uint64_t operands() const { return operands_; }

  /* Of a thread that goes through some elements. */
  struct Walk {
    int64_t gathered = 0, span = -1;  // elements of operands that repeat, and where they belong to
    bool again = false;               // what was gathered is what the block needs
  };
  /* How many elements the block has that begins at `at`, before `end`. */
  int64_t Next(int64_t at, int64_t end, Walk* walk) const {
    const int64_t n = std::min(block_, end - at);
    if (!operands_) return n;
    const int64_t within = at % period_, span = at / span_;
    const int64_t count = std::min({n, within ? period_ - within : n, (span + 1) * span_ - at});
    walk->again = within == 0 && span == walk->span && count <= walk->gathered;
    if (!walk->again) walk->gathered = count, walk->span = within == 0 ? span : -1;
    return count;
  }

 private:
  const int64_t most_;
  int64_t block_;
  int64_t period_ = 0, span_ = 0;  // elements of one turn, and of all turns behind one another
  uint64_t operands_ = 0;
};

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_REPEATS_H_
