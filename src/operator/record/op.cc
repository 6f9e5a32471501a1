// The operator registry and the small functions on records, nodes and attributes.
#include "mxnet/op.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/edit_distance.h"
#include "operator/record/record_check.h"
#include "operator/record/registry.h"

namespace mxnet {
namespace {

using OpsByName = std::unordered_map<std::string, Op*>;  // names and aliases

// INVARIANT: entries are added under `mutex`: to `by_name` during static initialisation, later to
// copies of it, which are never changed once they are seen. So reading needs no lock.
struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Op>> ops;  // guarded by `mutex` once the library is loaded
  OpsByName by_name;
  std::atomic<const OpsByName*> grown{nullptr};  // with what libraries have brought; null: none has
  const OpsByName& names() const {
    const OpsByName* all = grown.load(std::memory_order_acquire);
    return all ? *all : by_name;
  }
  static Registry* Get() {
    static Registry* r = new Registry();  // never destroyed: operators are used until the very end of the process
    return r;
  }
};

const Op* FindRegistered(const std::string& name) {
  const auto& map = Registry::Get()->names();
  const auto it = map.find(name);
  return it == map.end() ? nullptr : it->second;
}

/* The registry for whoever asks for a record: all of them have been checked. A typo in one of them
 * is an error of each use. */
Registry* Checked() {
  static Registry* const checked = [] {
    Registry* r = Registry::Get();
    for (const auto& op : r->ops) CheckRecord(*op, FindRegistered);
    return r;
  }();
  return checked;
}

}  // namespace

Op& Op::Register(const std::string& name) {
  Registry* r = Registry::Get();
  std::lock_guard<std::mutex> lock(r->mutex);
  auto it = r->by_name.find(name);
  if (it != r->by_name.end()) {
    MXNET_CHECK(it->second->name == name) << "[Op] " << name << " is registered, but is already an alias of " << it->second->name;
    return *it->second;
  }
  r->ops.emplace_back(new Op());
  r->ops.back()->name = name;
  r->by_name[name] = r->ops.back().get();
  return *r->ops.back();
}

void AddOperators(std::vector<std::unique_ptr<Op>> ops) {
  Registry* r = Checked();
  std::lock_guard<std::mutex> lock(r->mutex);
  auto all = std::make_unique<OpsByName>(r->names());
  for (const auto& op : ops)
    MXNET_CHECK_KIND(all->emplace(op->name, op.get()).second, Value) << "[Op] there is an operator " << op->name << " already";
  for (const auto& op : ops)
    CheckRecord(*op, [&](const std::string& name) -> const Op* {
      const auto found = all->find(name);
      return found == all->end() ? nullptr : found->second;
    });
  for (auto& op : ops) r->ops.push_back(std::move(op));
  r->grown.store(all.release(), std::memory_order_release);  // what was there before may still be read
}

const void* Op::FindTrait(const std::type_info& type) const {
  for (const Trait& trait : traits)
    if (*trait.type == type) return trait.value.get();
  return nullptr;
}

Op& Op::AddTrait(Trait trait) {
  for (Trait& own : traits)
    if (*own.type == *trait.type) {
      own = std::move(trait);
      return *this;
    }
  traits.push_back(std::move(trait));
  return *this;
}

Op& Op::alias(const std::string& other) {
  Registry* r = Registry::Get();
  std::lock_guard<std::mutex> lock(r->mutex);
  auto added = r->by_name.emplace(other, this);
  MXNET_CHECK(added.second || added.first->second == this)
      << "[Op] alias " << other << " of " << name << " is already taken by " << added.first->second->name;
  if (added.second) aliases.push_back(other);
  return *this;
}

Op& Op::set_inputs(std::vector<std::string> names, std::function<int(const Attrs&)> count) {
  input_names = std::move(names);
  num_inputs = std::move(count);
  return *this;
}

Op& Op::set_variadic(const std::string& input_name, std::function<int(const Attrs&)> count, const std::string& key) {
  input_names = {input_name};
  num_inputs = std::move(count);
  key_var_num_args = key;
  return *this;
}

Op& Op::set_outputs(std::vector<std::string> names, std::function<int(const Attrs&)> count, std::function<int(const Attrs&)> visible) {
  output_names = std::move(names);
  num_outputs = std::move(count);
  num_visible_outputs = std::move(visible);
  return *this;
}

Op& Op::set_zero_gradient() {
  zero_gradient = true;
  gradient = NoGradient;
  return *this;
}

Op& Op::set_kernel(DeviceType dev, Kernel k) {
  kernels[dev] = std::move(k);
  auto it = kernels.find(DeviceType::kCPU);
  cpu_kernel = it == kernels.end() ? nullptr : &it->second;
  if (runs == RunBy::kNever) runs = RunBy::kKernel;
  return *this;
}

Op& Op::set_kernel(Kernel k) {
  kernels[DeviceType::kGPU] = k;
  return set_kernel(DeviceType::kCPU, std::move(k));
}

const Kernel* Op::KernelFor(DeviceType dev) const {
  if (dev != DeviceType::kGPU) return cpu_kernel;
  auto it = kernels.find(dev);
  return it == kernels.end() ? nullptr : &it->second;
}

const Op* Op::Find(const std::string& name) {
  Checked();
  return FindRegistered(name);
}

const Op* Op::Get(const std::string& name) {
  const Op* op = Find(name);
  if (op) return op;
  std::string nearest;
  size_t best = name.size() / 2 + 2;
  for (const auto& kv : Checked()->names()) {
    const size_t d = EditDistance(name, kv.first);
    if (d < best) {
      best = d;
      nearest = kv.first;
    }
  }
  MXNET_THROW(Value) << "[Op] there is no operator " << name << (nearest.empty() ? "" : "; the nearest name is " + nearest);
  return nullptr;
}

size_t CountOperatorNames() { return Checked()->names().size(); }

std::vector<std::string> Op::ListNames() {
  std::vector<std::string> names;
  for (const auto& kv : Checked()->names()) names.push_back(kv.first);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<const Op*> Op::ListUnique() {
  std::vector<const Op*> ops;
  Registry* r = Checked();
  {
    std::lock_guard<std::mutex> lock(r->mutex);
    for (const auto& op : r->ops) ops.push_back(op.get());
  }
  std::sort(ops.begin(), ops.end(), [](const Op* a, const Op* b) { return a->name < b->name; });
  return ops;
}

std::vector<std::string> Op::ListInputs(const Attrs& a) const {
  if (list_inputs) return list_inputs(a);
  const int n = NumInputs(a);
  std::vector<std::string> names;
  if (!key_var_num_args.empty()) {
    // the reference numbers the inputs of variadic operators: arg0, arg1, ...
    for (int i = 0; i < n; ++i) names.push_back("arg" + std::to_string(i));
    return names;
  }
  for (int i = 0; i < n; ++i) names.push_back(i < static_cast<int>(input_names.size()) ? input_names[i] : "arg" + std::to_string(i));
  return names;
}

std::vector<std::string> Op::ListOutputs(const Attrs& a) const {
  if (list_outputs) return list_outputs(a);
  const int n = NumOutputs(a);
  if (n == static_cast<int>(output_names.size())) return output_names;
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back("output" + std::to_string(i));
  return names;
}

AttrsPtr MakeAttrs(const Op* op, AttrDict dict) {
  auto a = std::make_shared<Attrs>();
  a->op = op;
  if (op && op->parse) a->param = op->parse(dict);  // nodes of an operator without parameters carry any attribute
  a->dict = std::move(dict);
  return a;
}

int Node::num_outputs() const { return is_variable() ? 1 : op()->NumOutputs(*attrs); }

Node::~Node() {
  // A long chain of nodes must not be destroyed by recursion: nodes that only this one holds are
  // moved to a list and emptied there.
  std::vector<NodePtr> pending;
  auto take = [&pending](Node* n) {
    for (auto& e : n->inputs)
      if (e.node && e.node.use_count() == 1) pending.push_back(std::move(e.node));
    for (auto& c : n->control_deps)
      if (c && c.use_count() == 1) pending.push_back(std::move(c));
    n->inputs.clear();
    n->control_deps.clear();
  };
  take(this);
  while (!pending.empty()) {
    NodePtr n = std::move(pending.back());
    pending.pop_back();
    if (n.use_count() == 1) take(n.get());
  }
}

NodePtr MakeVariable(const std::string& name, AttrDict dict) {
  auto n = std::make_shared<Node>();
  n->name = name;
  n->attrs = MakeAttrs(nullptr, std::move(dict));
  return n;
}

NodePtr MakeNode(const std::string& op, std::vector<NodeEntry> inputs, AttrDict dict, const std::string& name) {
  auto n = std::make_shared<Node>();
  n->attrs = MakeAttrs(Op::Get(op), std::move(dict));
  n->inputs = std::move(inputs);
  n->name = name;
  return n;
}

NodePtr MakeNodeLike(const std::string& op, const Node& like, std::vector<NodeEntry> inputs) {
  auto a = std::make_shared<Attrs>(*like.attrs);
  a->op = Op::Get(op);
  auto n = std::make_shared<Node>();
  n->attrs = std::move(a);
  n->inputs = std::move(inputs);
  n->name = like.name.empty() ? "" : like.name + "_backward";
  return n;
}

NodeEntry MakeOp(const std::string& op, std::vector<NodeEntry> inputs, AttrDict dict, const std::string& name) {
  return NodeEntry{MakeNode(op, std::move(inputs), std::move(dict), name), 0, 0};
}

}  // namespace mxnet
