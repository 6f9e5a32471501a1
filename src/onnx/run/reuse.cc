#include "onnx/run/reuse.h"

#include <algorithm>
#include <cstring>

namespace mxnet {
namespace onnx {
namespace {

constexpr int64_t kMostCompared = 64;  // elements: sizes and axes, which are computed anew

bool SameContents(const NDArray& a, const NDArray& b) {
  if (a.chunk() == b.chunk() && a.byte_offset() == b.byte_offset()) return true;
  const int64_t count = a.shape().Size();
  if (count > kMostCompared) return false;
  if (count == 0) return true;
  if (a.ctx() != Context::CPU() || b.ctx() != Context::CPU()) return false;
  a.WaitToRead();
  b.WaitToRead();
  return std::memcmp(a.data().dptr<void>(), b.data().dptr<void>(), static_cast<size_t>(count) * DTypeSize(a.dtype())) == 0;
}

/* Does a converter see the same in both? Entries of a graph are seen by their types. */
bool LooksTheSame(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.known() != b.known()) return false;
  switch (a.kind) {
    case Value::kNone: return true;
    case Value::kStrings: return a.strings == b.strings && a.type == b.type;
    case Value::kTensor: return a.type == b.type && (!a.known() || SameContents(a.array, b.array));
    case Value::kSequence:
      return a.element_dtype == b.element_dtype &&
             std::equal(a.elements->begin(), a.elements->end(), b.elements->begin(), b.elements->end(), LooksTheSame);
  }
  return false;
}

}  // namespace

/* Says what `before`, an input of the earlier graph, is in this one. False: two things at once. */
static bool Pair(const Value& before, const Value& now, EntryMap* entries) {
  if (before.kind == Value::kSequence) {
    for (size_t i = 0; i < before.elements->size(); ++i)
      if (!Pair((*before.elements)[i], (*now.elements)[i], entries)) return false;
    return true;
  }
  if (before.kind != Value::kTensor || before.known()) return true;
  const NodeEntry& entry = entries->emplace(before.entry, now.entry).first->second;
  return entry.node == now.entry.node && entry.index == now.entry.index;
}

std::vector<Value> Conversions::Take(const NodeProto& node, const std::vector<const Value*>& inputs, GraphBuilder* builder) const {
  const auto it = made_.find(&node);
  if (it == made_.end()) return {};
  const Made& made = it->second;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!LooksTheSame(*inputs[i], made.inputs[i])) return {};
  EntryMap entries;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!Pair(made.inputs[i], *inputs[i], &entries)) return {};
  std::vector<Value> results = made.results;
  return builder->Repeat(made.traces, &entries, &results) ? results : std::vector<Value>();
}

const std::vector<Value>* Conversions::ResultsOf(const NodeProto& node) const {
  const auto it = made_.find(&node);
  return it == made_.end() ? nullptr : &it->second.results;
}

const std::vector<Value>* Conversions::InputsOf(const NodeProto& node) const {
  const auto it = made_.find(&node);
  return it == made_.end() ? nullptr : &it->second.inputs;
}

void Conversions::Put(const NodeProto& node, std::vector<Value> inputs, std::vector<Value> results, Traces traces) {
  made_[&node] = {std::move(inputs), std::move(results), std::move(traces)};
}

}  // namespace onnx
}  // namespace mxnet
