// Eager invocation: recording around what execute.cc does.
#include "mxnet/imperative.h"

#include "imperative/execute.h"
#include "imperative/overwrites.h"
#include "imperative/tape.h"
#include "operator/record/async_call.h"
#include "operator/runtime/array_call.h"
#include "operator/runtime/call_states.h"

namespace mxnet {

bool AttrsCache::Takes(const std::string& key, const Op& op) {
  constexpr size_t kMaxKey = 1 << 14;
  return key.size() <= kMaxKey && op.runs != RunBy::kAsync;
}

ImperativeState& Imperative::State() {
  static thread_local ImperativeState state;
  return state;
}

AttrsPtr Imperative::GetAttrs(const Op* op, int num_params, const char* const* keys, const char* const* values) {
  static thread_local AttrsCache cache;
  static thread_local std::string key;
  key.assign(reinterpret_cast<const char*>(&op), sizeof(op));
  for (int i = 0; i < num_params; ++i) {
    key.append(keys[i]);
    key.push_back('\0');
    key.append(values[i]);
    key.push_back('\0');
  }
  if (const AttrsPtr* known = cache.Find(key)) return *known;
  AttrDict dict;
  for (int i = 0; i < num_params; ++i) dict[keys[i]] = values[i];
  if (!op->parse)
    for (const auto& kv : dict)
      MXNET_CHECK_KIND(kv.first.compare(0, 2, "__") == 0, Value)
          << "[" << op->name << "] unknown parameter " << kv.first << "='" << kv.second << "'; this operator takes no parameters";
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  if (AttrsCache::Takes(key, *op)) cache.Put(key, attrs);
  return attrs;
}

[[maybe_unused]] static const bool runs_for_array_functions = SetRunOnArrays(Imperative::Run);

/* The attributes of one call that has a state of its own, or holds graphs with such calls. Null: no
 * others than those given. */
static AttrsPtr AttrsOfCall(const AttrsPtr& given, const ImperativeState& state) {
  const RunBy how = given->op->RunsBy(*given);
  if (__builtin_expect(how == RunBy::kAsync, 0)) {
    const AsyncCall* async = given->op->trait<AsyncCall>();
    return async->for_call ? async->for_call(given) : nullptr;
  }
  if (__builtin_expect(how == RunBy::kGraphKernel, 0) && !state.deferred_compute) {
    const KeepsCallStates* keeps = given->op->trait<KeepsCallStates>();
    if (keeps && !keeps->of(*given)) return keeps->with(*given, std::make_shared<CallStates>());
  }
  return nullptr;
}

void Imperative::Invoke(const AttrsPtr& given, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                        const Context* ctx, size_t read) {
  const ImperativeState& state = State();
  const AttrsPtr of_call = AttrsOfCall(given, state);
  const AttrsPtr& attrs = of_call ? of_call : given;
  if (state.deferred_compute) {
    CheckDeferredOutputs(*attrs, inputs, outputs);
    if (FindShapes(attrs, inputs, outputs)) return;
    Execute(attrs, inputs, outputs, nullptr, ctx, state.training, true);
    return RecordDeferred(attrs, inputs, outputs);
  }
  bool writes = false;
  if (state.recording)
    for (NDArray* o : outputs) {
      writes |= !o->is_none();
      MXNET_CHECK(o->is_none() || !o->autograd_entry || (!IsTapeVariable(o->autograd_entry) && !MarkOf(o->autograd_entry)))
          << "[" << attrs->op->name
          << "] writing into an array with a gradient (+=, x[:]=, out=) while recording is not differentiable; use a new array, or write "
             "behind record()";
    }
  if (writes && !attrs->op->mutate_inputs) {
    const Overwrites overwrites(attrs, inputs, outputs);
    NewMemory memory(*attrs, inputs, outputs);
    Execute(attrs, inputs, memory.outputs(), nullptr, ctx, state.training);
    Record(attrs, overwrites.inputs(), memory.outputs());
    return memory.Give();
  }
  if ((ctx && inputs.empty()) || !ExecuteFresh(attrs, inputs, outputs, state.training))
    Execute(attrs, inputs, outputs, nullptr, ctx, state.training, false, state.recording ? SIZE_MAX : read);
  if (state.recording) Record(attrs, inputs, outputs);
}

bool Imperative::InvokeAtOnce(const AttrsPtr& attrs, Span<NDArray* const> inputs, NDArray* output) {
  const ImperativeState& state = State();
  // What these have is made for each call.
  if (state.recording || state.deferred_compute || attrs->op->stateful || !attrs->subgraphs.empty()) return false;
  return ExecuteFresh(attrs, inputs, Span<NDArray* const>(&output, 1), state.training);
}

void Imperative::Run(const AttrsPtr& attrs, const std::vector<NDArray>& inputs, const std::vector<OpReq>& req,
                     const std::vector<NDArray>& outputs, bool is_train) {
  std::vector<NDArray*> in, out;
  for (const auto& a : inputs) in.push_back(const_cast<NDArray*>(&a));
  for (const auto& a : outputs) out.push_back(const_cast<NDArray*>(&a));
  Execute(attrs, in, out, &req, nullptr, is_train);
}

}  // namespace mxnet
