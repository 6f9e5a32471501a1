// What a model's plans are, for people to read.
#include "executor/explain.h"
#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {
namespace {

void ExplainPending(const Pending& pending, int depth, std::string* into) {
  for (const auto& stage : pending.stages) {
    const PlanStats stats = stage->op ? stage->op->Stats() : PlanStats();
    *into += std::string(static_cast<size_t>(depth) * 2, ' ') + "plan of " + std::to_string(stats.num_nodes) + " nodes in " +
             std::to_string(stats.num_bulks) + " bulks, " + std::to_string(stats.arena_bytes) + " bytes between them";
    for (const auto& d : stage->demanded) *into += ", for the contents of " + d.first;
    for (const auto& b : stage->bounds) *into += ", for " + b.name + (b.holds ? " <= " : " > ") + Text(b.most);
    *into += '\n';
    for (const NodeProto* n : stage->host)
      *into += std::string(static_cast<size_t>(depth) * 2, ' ') + "then " + n->label() + " (" + n->op + ") on arrays\n";
    if (stage->rest) ExplainPending(*stage->rest, depth + 1, into);
  }
}

void ListStages(const Pending& pending, std::vector<std::shared_ptr<Stage>>* into) {
  for (const auto& stage : pending.stages) {
    into->push_back(stage);
    if (stage->rest) ListStages(*stage->rest, into);
  }
}

}  // namespace

void Runner::Explain(std::string* into) {
  std::lock_guard<std::mutex> lock(mutex_);
  ExplainPending(root_, 0, into);
  if (once_) {
    *into += "node by node for shapes that come once";
    if (once_->recipes())
      *into += ", " + std::to_string(once_->num_recipes()) + " of " + std::to_string(once_->num_steps()) + " by recipes, " +
               std::to_string(once_->num_sizes()) + " of these compute sizes";
    if (rehearsals_ > 0) *into += "; rehearsals: " + std::to_string(rehearsals_);
    *into += '\n';
  }
}

std::string Runner::ExplainPlans(int runs) {
  const NumpyShapesScope scope;
  std::vector<std::shared_ptr<Stage>> stages;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ListStages(root_, &stages);
  }
  std::string text = "[";
  for (const auto& stage : stages) {
    if (!stage->op || stage->op->Stats().num_nodes == 0) continue;
    std::vector<NDArray> inputs;
    for (const Stage::Operand& o : stage->operands) inputs.push_back(o.name.empty() ? o.constant : NDArray());
    text += (text.size() > 1 ? ",\n" : "") + ExplainCachedOp(*stage->op, inputs, runs);
  }
  return text + "]";
}

}  // namespace onnx
}  // namespace mxnet
