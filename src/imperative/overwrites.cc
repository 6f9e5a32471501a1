// Values that gradients read and that an operator writes over while autograd records.
#include "imperative/overwrites.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include "mxnet/error.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "ndarray/run.h"

namespace mxnet {
namespace {

constexpr size_t kMaxNotes = 1024;  // above it, those whose graphs are gone are forgotten

/* Constants of the graphs that this thread recorded. No array leads to them, as a result leads to
 * the node that computed it. */
struct Notes {
  std::unordered_map<const Chunk*, std::vector<std::weak_ptr<void>>> of;
  size_t count = 0, limit = kMaxNotes;

  void Forget() {
    count = 0;
    for (auto it = of.begin(); it != of.end();) {
      auto& tapes = it->second;
      tapes.erase(std::remove_if(tapes.begin(), tapes.end(), [](const std::weak_ptr<void>& t) { return t.expired(); }), tapes.end());
      count += tapes.size();
      it = tapes.empty() ? of.erase(it) : std::next(it);
    }
    limit = std::max(kMaxNotes, 2 * count);
  }
};
thread_local Notes notes;

void Part(Tape::Output* kept, const Chunk* chunk) {
  if (!kept->value.is_none() && kept->value.chunk() == chunk) kept->value = kept->value.Copy(kept->value.ctx());
}

}  // namespace

void NoteConstant(const NodeEntry& constant) {
  if (notes.count >= notes.limit) notes.Forget();
  notes.of[TapeOf(constant)->outputs[0].value.chunk()].push_back(constant.node->tape);
  ++notes.count;
}

Overwrites::Overwrites(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs) : inputs_(inputs) {
  for (NDArray* o : outputs) {
    if (o->is_none()) continue;
    Tape* tape = TapeOf(o->autograd_entry);
    if (tape && !tape->is_variable) Part(&tape->outputs[o->autograd_entry.index], o->chunk());
    auto found = notes.of.find(o->chunk());
    if (found == notes.of.end()) continue;
    for (const auto& note : found->second)
      if (const std::shared_ptr<void> constant = note.lock()) Part(&static_cast<Tape*>(constant.get())->outputs[0], o->chunk());
    notes.count -= found->second.size();
    notes.of.erase(found);
  }
  const uint64_t use = GradUse(attrs);
  copies_.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_written = std::any_of(outputs.begin(), outputs.end(), [&](NDArray* o) {
      return !o->is_none() && !inputs[i]->is_none() && o->chunk() == inputs[i]->chunk();
    });
    if (!is_written || (i < 31 && !(use >> i & 1))) continue;
    copies_.push_back(inputs[i]->Copy(inputs[i]->ctx()));
    copies_.back().autograd_entry = inputs[i]->autograd_entry;
    inputs_[i] = &copies_.back();
  }
}

NewMemory::NewMemory(const Attrs& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs)
    : outputs_(outputs), wanted_(outputs) {
  if (std::none_of(inputs.begin(), inputs.end(), [](NDArray* a) { return Imperative::HasHistory(*a); })) return;
  made_.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    NDArray* o = outputs[i];
    if (o->is_none() || CoversChunk(*o) || Imperative::HasHistory(*o)) continue;
    MXNET_CHECK_KIND(std::find(inputs.begin(), inputs.end(), o) != inputs.end(), Value)
        << "[" << attrs.op->name << "] a recorded result is to be written into a part of another array, which would not know of its "
        << "gradient; accepted: assignment to the array itself (x[i] = y)";
    made_.emplace_back(o->shape(), o->ctx(), o->dtype());
    outputs_[i] = &made_.back();
  }
}

void NewMemory::Give() {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] != wanted_[i]) *wanted_[i] = std::move(*outputs_[i]);
}

}  // namespace mxnet
