/* What one use of an operator was given, and nodes of graphs, without the operators' records
 * (op.h). */
#ifndef MXNET_NODE_H_
#define MXNET_NODE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/error.h"
#include "mxnet/node_entry.h"

namespace mxnet {

struct Op;
class Symbol;
using AttrDict = std::map<std::string, std::string>;

/* What one use of an operator was given. Shared and immutable: eager calls with equal arguments
 * reuse one object. */
struct Attrs {
  const Op* op = nullptr;             // null: a variable
  AttrDict dict;                      // as written by the user: operator parameters and hidden `__key__` ones
  std::shared_ptr<const void> param;  // parsed parameters, of the type given to set_param
  std::vector<std::shared_ptr<Symbol>> subgraphs;
  template <typename P>
  const P& get() const {
    return *static_cast<const P*>(param.get());
  }
  /* Is this input looked at for its shape (and dtype) alone? False for variables. In op.h. */
  inline bool ReadsOnlyShape(int input) const;
  /* What autograd found out about the gradient (bit i: it reads input i; bit 32+i: output i). 0 =
   * not asked yet. */
  struct GradUse {
    mutable std::atomic<uint64_t> bits{0};
    GradUse() = default;
    GradUse(const GradUse&) {}  // a copy is for another operator: it must ask again
    GradUse& operator=(const GradUse&) {
      bits = 0;
      return *this;
    }
  } grad_use;
};
using AttrsPtr = std::shared_ptr<const Attrs>;
/* Parses and checks. Throws Error(kValue) naming operator, parameter, value and what is accepted.
 * Unknown keys that are not `__hidden__` are an error. */
MXNET_DLL AttrsPtr MakeAttrs(const Op* op, AttrDict dict);

/* A use of an operator in a graph, or a variable. Graphs are acyclic. Destruction of long chains
 * does not recurse. */
struct MXNET_DLL Node {
  std::string name;
  AttrsPtr attrs;  // never null; attrs->op == null for a variable
  std::vector<NodeEntry> inputs;
  std::vector<NodePtr> control_deps;
  std::shared_ptr<void> tape;  // autograd's record (src/imperative); null in symbolic graphs
  bool is_variable() const { return attrs->op == nullptr; }
  const Op* op() const { return attrs->op; }
  int num_outputs() const;
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  ~Node();
};
MXNET_DLL NodePtr MakeVariable(const std::string& name, AttrDict dict = {});
MXNET_DLL NodePtr MakeNode(const std::string& op, std::vector<NodeEntry> inputs, AttrDict dict = {}, const std::string& name = "");
/* Same parameters as `like` (its parsed struct is shared), another operator with the same parameter
 * type. */
MXNET_DLL NodePtr MakeNodeLike(const std::string& op, const Node& like, std::vector<NodeEntry> inputs);
/* Output 0 of a new node. */
MXNET_DLL NodeEntry MakeOp(const std::string& op, std::vector<NodeEntry> inputs, AttrDict dict = {}, const std::string& name = "");

/* One parameter as signatures and documentation show it. */
struct ParamInfo {
  std::string name, type, description;  // type in the reference's notation: "float, optional, default=0.5"
};

}  // namespace mxnet
#endif  // MXNET_NODE_H_
