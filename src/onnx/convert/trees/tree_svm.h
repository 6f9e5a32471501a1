/* Support vector machines. */
#ifndef MXNET_ONNX_CONVERT_TREES_TREE_SVM_H_
#define MXNET_ONNX_CONVERT_TREES_TREE_SVM_H_

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "onnx/convert/trees/tree.h"

namespace mxnet {
namespace onnx {

/* The attributes of a machine. */
struct Machine {
  std::string kernel;
  double gamma = 0, coef0 = 0, degree = 0;
  std::vector<float> coefficients, vectors, rho;
  std::vector<float> chance_a, chance_b;  // of classifiers that give probabilities: of each pair of classes
  std::vector<int64_t> per_class;         // vectors
  int64_t count() const { return std::accumulate(per_class.begin(), per_class.end(), int64_t{0}); }
};

/* Refuses what is malformed; those of a regressor have no classes. */
Machine ReadMachine(const Call& c);
/* Refuses a machine whose attributes do not fit so many classes. */
void CheckClasses(const Call& c, const Machine& m, int64_t classes);

/* A classifier that gives probabilities. They are found by iteration, so it runs on arrays. */
class CoupledMachine;

/* Null where the node gives no probabilities. Made once for each node; the data is asked for
 * (NeedsValue) before. */
std::shared_ptr<const CoupledMachine> CoupledOf(const Call& c, int64_t classes);

struct CoupledResult {
  Value chances;  // (examples, classes)
  Value places;   // (examples,): which class won most pairs
};
CoupledResult RunCoupled(const Call& c, const CoupledMachine& machine, const Value& x);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TREES_TREE_SVM_H_
