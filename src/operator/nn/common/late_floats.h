/* float32 copies of a layer's weights of 16 bits, made when somebody reads them. */
#ifndef MXNET_OPERATOR_NN_COMMON_LATE_FLOATS_H_
#define MXNET_OPERATOR_NN_COMMON_LATE_FLOATS_H_

#include <cstdint>
#include <vector>

#include "mxnet/kernel_args.h"
#include "operator/shared/transposed_weights.h"
#include "operator/shared/weights_room.h"

namespace mxnet {
namespace nn {

/*
 * What a kernel in float32 is told of its weights while it runs on widened inputs. A plan's kernel
 * reads them in a form that it keeps from call to call, as a rule: a copy for each call would take
 * longer than many a layer, and nobody would read it.
 */
class LateFloats final : public PlanWeights, public TransposedWeights, public WeightsRoom {
 public:
  /* Of a call on the CPU, with memory from its workspace. */
  explicit LateFloats(const KernelArgs& args) : args_(args), outer_(args.plan_weights) {}
  /* Where the contents of an input of 16 bits will be, if its reader keeps a form, and says so
   * before it reads them as they lie (AsksForWeights). False: they must be there. */
  bool Take(int input, TBlob* blob);
  bool empty() const { return late_.empty(); }

  void Need(const void* weights) override;
  void Done(const void* weights) override;
  uint64_t Identity(const void* weights) override;
  ReadPart Parts(const void* weights) override;
  ReadPart TransposedParts(const void* weights) override;
  bool HasRoomFor(const void* weights, size_t more, bool anyway) override;

  /* The array that stays from call to call, whose copy `weights` may be. */
  static const void* Original(PlanWeights* plan_weights, const void* weights);

 private:
  struct Late {
    TBlob half, floats;
    bool there;
  };
  Late* Find(const void* weights);
  const KernelArgs& args_;
  PlanWeights* const outer_;
  std::vector<Late> late_;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_LATE_FLOATS_H_
