/*
 * A graph with its parameters, bound for inference: which inputs may be left out, whether a file of
 * parameters belongs to the graph, and what several of them share. The C predict API has a handle
 * of each.
 */
#ifndef MXNET_EXECUTOR_PREDICTOR_H_
#define MXNET_EXECUTOR_PREDICTOR_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mxnet/executor.h"

namespace mxnet {

class Predictor {
 public:
  using Shapes = std::map<std::string, Shape>;
  using Arrays = std::map<std::string, NDArray>;  // parameters and auxiliary states by name

  struct Request {
    Symbol symbol;
    std::vector<std::string> outputs;  // names of nodes or of their outputs; empty: those of the symbol
    Context ctx;
    Shapes shapes;  // of inputs; a name that the graph does not have is ignored with a warning
    std::map<std::string, int> dtypes;
    std::shared_ptr<const Arrays> params;  // they keep their memory where context and dtype allow; others may have them, too
  };
  /* Throws Error(kValue) where inputs and parameters together lack more than labels. */
  explicit Predictor(const Request& request);

  /* One for another thread: parameters and the compiled plan are shared, inputs, outputs and
   * intermediate memory are not. A graph whose shapes depend on values has no plan to share. */
  std::unique_ptr<Predictor> ForThread() const;
  /* One with other shapes of inputs, and these parameters. Throws Error(kValue) for another shape
   * of a parameter. */
  std::unique_ptr<Predictor> WithShapes(const Shapes& shapes) const;

  /* Throws Error(kValue) when the graph has no argument of that name. */
  const NDArray& Input(const std::string& name) const;
  /* The same, to be written. A parameter that other predictors have as well is copied first, and so
   * are the others. */
  const NDArray& InputToWrite(const std::string& name);
  /* Throws Error(kIndex). */
  const NDArray& Output(uint32_t index) const;
  const std::shared_ptr<Executor>& executor() const { return executor_; }

 private:
  Predictor(const Predictor& like, Shapes shapes)
      : symbol_(like.symbol_), ctx_(like.ctx_), shapes_(std::move(shapes)), shared_params_(like.shared_params_) {}
  /* `same`: one whose plan it uses, or null. */
  void Bind(const Arrays& params, const Predictor* same);
  Arrays BoundParameters() const;

  Symbol symbol_;
  Context ctx_;
  Shapes shapes_;
  std::map<std::string, int> dtypes_;
  std::shared_ptr<Executor> executor_;
  Arrays arguments_;
  std::shared_ptr<const Arrays> shared_params_;  // others of the model find them; null: the arguments are its own
  std::set<std::string> zeros_;                  // arguments that neither caller nor parameters gave (labels)
};

/* The parameters of a file that saved a model, which names arrays "arg:NAME" and "aux:NAME".
 * Predictors of equal arrays share them. */
std::shared_ptr<const Predictor::Arrays> ParametersOfBytes(const void* bytes, size_t size);
/* The same of a file by its path, which is to stay as it is: arrays are read when they are needed,
 * and predictors of one file share them. */
std::shared_ptr<const Predictor::Arrays> ParametersInFile(const std::string& path);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PREDICTOR_H_
