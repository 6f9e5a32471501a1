/*
 * Weights that a plan computes itself (a convolution's with the BatchNorm behind it folded in) and
 * that their only reader needs just until it has them in a form of its own: then the plan drops
 * them, and computes them again if they are asked for.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PLAN_WEIGHTS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PLAN_WEIGHTS_H_

namespace mxnet {
namespace nn {

/* What a plan offers to the kernels that it runs on the calling thread. Pointers that it does not
 * know are left alone. */
class PlanWeights {
 public:
  virtual void Need(const void* weights) = 0;
  virtual void Done(const void* weights) = 0;

 protected:
  ~PlanWeights() = default;
};

/* Of the plan that runs on this thread; null: none, or nothing to drop. Returns the previous
 * one. */
PlanWeights* SetPlanWeights(PlanWeights* weights);

/* Before weights are read by a kernel that may have said Done. */
void NeedWeights(const void* weights);
/* They will not be read any more without NeedWeights before. */
void DoneWithWeights(const void* weights);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PLAN_WEIGHTS_H_
