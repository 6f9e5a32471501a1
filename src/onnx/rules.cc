// All converters, by domain and operator.
#include <string>
#include <unordered_map>

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {
namespace {

using Table = std::unordered_map<std::string, std::vector<const Rule*>>;

std::string Key(const std::string& domain, const std::string& op) { return domain + ':' + op; }

const Table& All() {
  static const Table table = [] {
    Table t;
    for (const Rules* family :
         {&PointwiseRules(), &ReduceRules(),    &ShapeRules(),     &IndexRules(),   &MatrixRules(), &NeuralRules(),    &NormRules(),
          &AttentionRules(), &RecurrentRules(), &QuantizedRules(), &IntegerRules(), &FusedRules(),  &MicrosoftRules(), &ExperimentalRules(),
          &SequenceRules(),  &SignalRules(),    &RandomRules(),    &TreeRules(),    &TextRules(),   &VisionRules(),    &CoreRules()})
      for (const Rule& rule : *family) t[Key(rule.domain, rule.op)].push_back(&rule);
    return t;
  }();
  return table;
}

}  // namespace

const Rule* FindRule(const std::string& domain, const std::string& op, int64_t opset) {
  const auto it = All().find(Key(domain, op));
  if (it == All().end()) return nullptr;
  for (const Rule* rule : it->second)
    if (rule->from <= opset && opset <= rule->to) return rule;
  return nullptr;
}

bool KnowsOp(const std::string& domain, const std::string& op) { return All().count(Key(domain, op)) != 0; }

std::vector<const Rule*> AllRules() {
  std::vector<const Rule*> rules;
  for (const auto& kv : All())
    for (const Rule* rule : kv.second)
      if (!IsOwnDomain(rule->domain)) rules.push_back(rule);
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
