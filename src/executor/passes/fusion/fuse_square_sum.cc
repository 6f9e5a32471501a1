// A csr matrix times the sums of squares of a table's rows becomes one operator, before the
// gradient is made: it squares the rows that the matrix names alone. Factorization machines have
// this product; written out, it makes a sum for each row of the table in every step.
#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using namespace pattern;

struct Found {
  NodeEntry matrix, table;
};

class Products {
 public:
  Products(const PassGraph& g, const GraphInfo& info) : info_(info), view_(g, info) {}

  bool operator()(const NodeEntry& out, Found* found) {
    const auto product = View<MatrixProductView>(*out.node);
    if (!product || product->transpose_a || product->transpose_b || !Matches(product_, out, view_, &match_)) return false;
    *found = {match_[matrix_], match_[table_]};
    const TensorType &matrix = info_.type(found->matrix), &table = info_.type(found->table);
    return matrix.storage == StorageType::kCSR && table.storage != StorageType::kCSR && info_.type(out).storage == StorageType::kDense &&
           table.shape.ndim() == 2 && info_.type(out).shape.ndim() == 2 && match_[axis_] == 1 && IsFloating(table.dtype) &&
           matrix.dtype == table.dtype;
  }

 private:
  const GraphInfo& info_;
  const GraphView view_;
  const Axis axis_;
  const Pattern matrix_ = Any(), table_ = Any();
  const Pattern sums_ = Reduce(Role::kSumOfSquares, table_, axis_) | Sum(Square(table_).Once(), axis_);
  const Pattern product_ = Apply(Role::kMatrixProduct, {matrix_, sums_.Once()});
  Match match_;
};

}  // namespace

int FuseSquareSum(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  if (!Has(*g, Role::kMatrixProduct) || (!Has(*g, Role::kSumOfSquares) && !Has(*g, Role::kSum))) return 0;
  Products products(*g, context->info(*g));
  std::map<const Node*, Found> found;
  VisitForward(*g, [&](const NodePtr& n) {
    Found f;
    if (!n->is_variable() && products({n, 0, 0}, &f)) found.emplace(n.get(), std::move(f));
  });
  Replace(g, found, [](const Found& f, const Renew& renew, const std::string& name) {
    return MakeProductWithSquareSums(renew(f.matrix), renew(f.table), name);
  });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
