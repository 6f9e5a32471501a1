/* What a plan's weights (PlanWeights) may bound: the memory of larger forms of them. */
#ifndef MXNET_OPERATOR_SHARED_WEIGHTS_ROOM_H_
#define MXNET_OPERATOR_SHARED_WEIGHTS_ROOM_H_

#include "mxnet/kernel_args.h"

namespace mxnet {

class WeightsRoom {
 public:
  /* May a kernel keep a form of these weights that is faster, but takes `more` bytes beyond them?
   * All weights of a plan have room in common, as much as they take together, and those that are
   * asked for first get it. `anyway`: they take it where there is none left, too. The answer
   * stays. */
  virtual bool HasRoomFor(const void* weights, size_t more, bool anyway) = 0;

 protected:
  ~WeightsRoom() = default;
};

/* True where `weights` (null: there are none) has no bound. */
inline bool HasRoomFor(PlanWeights* weights, const void* at, size_t more, bool anyway) {
  auto* const room = dynamic_cast<WeightsRoom*>(weights);
  return !room || room->HasRoomFor(at, more, anyway);
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_WEIGHTS_ROOM_H_
