// The numbers of a parameter update, for the CPU and for GPUs, where they are among a kernel's
// arguments (therefore doubles alone). A rule reads some of them; the others are not set. Included
// once where it is C++ (update_rules.h).

namespace mxnet {

struct UpdateNumbers {
  // Learning rate. Lamb2: times the trust ratio. Lans1: 1 / norm of the gradient. Lans2: factor of
  // the direction.
  double lr;
  double wd;                // weight decay; Lans2: factor of the second direction
  double rescale;           // factor on the gradient
  double clip;              // bound of the rescaled gradient; infinity: none
  double momentum;          // share of the previous step that is kept
  double beta1, beta2;      // decay of the running means of the gradient and of its square
  double unbias1, unbias2;  // Lamb1, Lans1: 1 / (1 - beta^t)
  double bias1, bias2;      // Ftml: 1 - beta^t
  double epsilon;
  double eta;             // AdamW: factor of the schedule
  double gamma1, gamma2;  // RmsProp: decay of the running means; share of the previous step
  double weight_bound;    // RmsProp: bound of the new weight; infinity: none
  double lambda1, beta;   // Ftrl
  double wd_of_weight;    // Signum: decay outside of the momentum
  double in_place;        // Nag: 1 where the weight is updated in place, else 0
};

}  // namespace mxnet
