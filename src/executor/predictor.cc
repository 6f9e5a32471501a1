#include "executor/predictor.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <unordered_map>

#include "base/logging.h"
#include "base/threads/fork_guard.h"
#include "mxnet/op.h"
#include "ndarray/container.h"

namespace mxnet {
namespace {

constexpr uint64_t kMissingMultiple = 16;

Symbol ChooseOutputs(const Symbol& symbol, const std::vector<std::string>& outputs) {
  if (outputs.empty()) return symbol;
  const Symbol internals = symbol.GetInternals();
  const std::vector<std::string> names = internals.ListOutputNames();
  std::vector<Symbol> chosen;
  for (const std::string& wanted : outputs) {
    size_t at = 0;
    while (at < names.size() && names[at] != wanted && names[at] != wanted + "_output") ++at;
    MXNET_CHECK_KIND(at < names.size(), Value) << "[predictor] the graph has no node " << wanted;
    chosen.push_back(internals[at]);
  }
  return Symbol::Group(chosen);
}

/* Without the shapes of what `symbol` does not have. */
Predictor::Shapes KnownShapes(const Symbol& symbol, Predictor::Shapes shapes) {
  const auto known = symbol.ListInputNames(Symbol::kAll);
  for (auto kv = shapes.begin(); kv != shapes.end();) {
    const bool has = std::find(known.begin(), known.end(), kv->first) != known.end();
    if (!has) LogWarning("[predictor] the graph has no input " + kv->first + "; its shape is ignored");
    kv = has ? std::next(kv) : shapes.erase(kv);
  }
  return shapes;
}

/* Only what trains reads a label: by its name, as 1.x has it, or because every operator that takes
 * it does so as one. */
bool IsLabel(const Symbol& symbol, const Node* variable) {
  const std::string& name = variable->name;
  if (name.size() >= 5 && name.compare(name.size() - 5, 5, "label") == 0) return true;
  bool used = false, only = true;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    if (n->is_variable()) return;
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      if (n->inputs[i].node.get() != variable) continue;
      const std::vector<std::string> inputs = n->op()->ListInputs(*n->attrs);
      used = true;
      only = only && i < inputs.size() && inputs[i] == "label";
    }
  });
  return used && only;
}

/* A file for another network, or a part of one, must not pass as a trained one. `whole`: the graph
 * that the file belongs to, of which `symbol` is a part. */
void CheckParameters(const Symbol& symbol, const Predictor::Shapes& shapes, const Symbol& whole, const Predictor::Arrays& params) {
  std::string missing, extra;
  for (const auto& n : symbol.ListInputs(Symbol::kAll))
    if (!shapes.count(n->name) && !params.count(n->name) && !IsLabel(symbol, n.get())) missing += (missing.empty() ? "" : ", ") + n->name;
  MXNET_CHECK_KIND(missing.empty(), Value) << "[predictor] neither the inputs nor the parameters have " << missing
                                           << "; accepted without: labels alone";
  const std::vector<std::string> known = whole.ListInputNames(Symbol::kAll);
  const std::set<std::string> names(known.begin(), known.end());
  for (const auto& kv : params)
    if (!names.count(kv.first)) extra += (extra.empty() ? "" : ", ") + kv.first;
  if (!extra.empty()) LogWarning("[predictor] the parameters have " + extra + ", which the graph does not use");
}

/* Counts what neither caller nor parameters gave: labels, or forgotten. It starts at zero, but must
 * not be far larger than all that was given. */
class MissingArrays {
 public:
  MissingArrays(const Predictor::Shapes& shapes, const Predictor::Arrays& params) {
    for (const auto& kv : shapes) given_ += static_cast<uint64_t>(kv.second.Size()) * 8;
    for (const auto& kv : params)
      given_ += kv.second.is_none() ? 0 : static_cast<uint64_t>(kv.second.shape().Size()) * DTypeSize(kv.second.dtype());
  }
  void Add(const std::string& name, const Shape& shape, int dtype) {
    uint64_t bytes = DTypeSize(dtype);
    for (int64_t d : shape)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes)) bytes = UINT64_MAX / 2;
    missing_ = std::min(missing_ + bytes, UINT64_MAX / 2);
    MXNET_CHECK_KIND(missing_ <= kMissingMultiple * given_, Value)
        << "[predictor] the parameters lack " << name << " of shape " << shape << "; accepted: missing arrays (labels) of at most "
        << kMissingMultiple << " times what was given";
  }

 private:
  uint64_t given_ = 1 << 20, missing_ = 0;  // bytes
};

NDArray Zeros(const Shape& shape, const Context& ctx, int dtype) {
  NDArray a(shape, ctx, dtype);
  const std::vector<char> zeros(static_cast<size_t>(shape.Size()) * DTypeSize(dtype), 0);
  if (!zeros.empty()) a.CopyBytesFrom(zeros.data(), zeros.size());
  return a;
}

Predictor::Arrays ByName(const std::vector<NDArray>& arrays, const std::vector<std::string>& names) {
  Predictor::Arrays params;
  for (size_t i = 0; i < names.size(); ++i) {
    if (arrays[i].is_none()) continue;  // as if it were not there
    const bool prefixed = names[i].compare(0, 4, "arg:") == 0 || names[i].compare(0, 4, "aux:") == 0;
    params[prefixed ? names[i].substr(4) : names[i]] = arrays[i];
  }
  return params;
}

/* A file as it is now. */
std::string StateOfFile(const std::string& path, bool* empty) {
  struct stat about;
  MXNET_CHECK_KIND(stat(path.c_str(), &about) == 0, IO) << "[predictor] cannot read " << path << ": " << std::strerror(errno);
  *empty = S_ISREG(about.st_mode) && about.st_size == 0;
  std::ostringstream text;
  text << about.st_dev << ' ' << about.st_ino << ' ' << about.st_size << ' ' << about.st_mtim.tv_sec << ' ' << about.st_mtim.tv_nsec;
  return text.str();
}

/* Parameters that predictors read from memory, while they live: another one of the same model takes
 * the arrays that are equal to its own. Nobody writes them. */
class LoadedParameters {
 public:
  std::shared_ptr<const Predictor::Arrays> Load(const void* bytes, size_t size) {
    const std::vector<std::shared_ptr<const Predictor::Arrays>> others = Others();
    std::unordered_multimap<size_t, NDArray> there;  // by bytes
    for (const auto& arrays : others)
      for (const auto& kv : *arrays)
        if (!kv.second.is_sparse() && kv.second.type().Bytes() >= kLeastShared) there.emplace(kv.second.type().Bytes(), kv.second);
    std::vector<NDArray> arrays;
    std::vector<std::string> names;
    LoadNDArrays(bytes, size, &arrays, &names, [&there](const TensorType& type, const char* values) {
      const auto range = there.equal_range(type.Bytes());
      for (auto it = range.first; it != range.second; ++it)
        if (it->second.shape() == type.shape && it->second.dtype() == type.dtype &&
            std::memcmp(it->second.data().dptr<void>(), values, type.Bytes()) == 0)
          return it->second;
      return NDArray();
    });
    auto made = std::make_shared<const Predictor::Arrays>(ByName(arrays, names));
    std::lock_guard<ForkMutex> lock(mutex_);
    loaded_.push_back(made);
    return made;
  }

 private:
  static constexpr size_t kLeastShared = 1 << 12;  // bytes
  std::vector<std::shared_ptr<const Predictor::Arrays>> Others() {
    std::vector<std::shared_ptr<const Predictor::Arrays>> others;
    std::lock_guard<ForkMutex> lock(mutex_);
    for (size_t i = loaded_.size(); i-- > 0;) {
      if (auto arrays = loaded_[i].lock())
        others.push_back(std::move(arrays));
      else
        loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return others;
  }
  ForkMutex mutex_{ForkLevel::kOperator};
  std::vector<std::weak_ptr<const Predictor::Arrays>> loaded_;
};
LoadedParameters* const g_loaded = new LoadedParameters();

struct OpenFiles {
  ForkMutex mutex{ForkLevel::kOperator};
  std::map<std::string, std::weak_ptr<const Predictor::Arrays>> params;  // by the state of the file
};
OpenFiles* const g_files = new OpenFiles();

}  // namespace

std::shared_ptr<const Predictor::Arrays> ParametersOfBytes(const void* bytes, size_t size) {
  return size == 0 ? std::make_shared<const Predictor::Arrays>() : g_loaded->Load(bytes, size);
}

std::shared_ptr<const Predictor::Arrays> ParametersInFile(const std::string& path) {
  bool empty = false;
  const std::string state = StateOfFile(path, &empty);
  if (empty) return std::make_shared<const Predictor::Arrays>();
  std::lock_guard<ForkMutex> lock(g_files->mutex);
  auto& files = g_files->params;
  for (auto it = files.begin(); it != files.end();) it = it->second.expired() ? files.erase(it) : std::next(it);
  if (auto there = files[state].lock()) return there;
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  MapNDArrays(path, &arrays, &names);
  const auto made = std::make_shared<const Predictor::Arrays>(ByName(arrays, names));
  files[state] = made;
  return made;
}

Predictor::Predictor(const Request& request)
    : symbol_(ChooseOutputs(request.symbol, request.outputs)),
      ctx_(request.ctx),
      shapes_(KnownShapes(symbol_, request.shapes)),
      dtypes_(request.dtypes),
      shared_params_(request.params) {
  CheckParameters(symbol_, shapes_, request.symbol, *shared_params_);
  Bind(*shared_params_, nullptr);
  if (ctx_.is_gpu()) shared_params_.reset();  // it has copies there
}

std::unique_ptr<Predictor> Predictor::ForThread() const {
  std::unique_ptr<Predictor> p(new Predictor(*this, shapes_));
  const auto& outputs = executor_->Outputs();
  p->Bind(BoundParameters(), outputs.empty() || outputs[0].is_none() ? nullptr : this);
  return p;
}

std::unique_ptr<Predictor> Predictor::WithShapes(const Shapes& shapes) const {
  std::unique_ptr<Predictor> p(new Predictor(*this, shapes_));
  p->dtypes_ = dtypes_;
  const Arrays params = BoundParameters();
  const Shapes known = KnownShapes(symbol_, shapes);
  // A misspelt input would keep its shape, and the caller would not know.
  for (const auto& kv : shapes_)
    MXNET_CHECK_KIND(known.size() == shapes.size() || known.count(kv.first), Value)
        << "[predictor] a shape of an input that the graph does not have, and none for " << kv.first << "; accepted: names of inputs";
  for (const auto& kv : known) {
    const auto v = params.find(kv.first);
    if (v == params.end())
      p->shapes_[kv.first] = kv.second;
    else
      MXNET_CHECK_KIND(v->second.shape() == kv.second, Value)
          << "[predictor] shape " << kv.second << " for the parameter " << kv.first << "; accepted: its own, " << v->second.shape();
  }
  p->Bind(params, nullptr);
  return p;
}

const NDArray& Predictor::Input(const std::string& name) const {
  const auto it = arguments_.find(name);
  MXNET_CHECK_KIND(it != arguments_.end(), Value) << "[predictor] the graph has no input " << name;
  return it->second;
}

const NDArray& Predictor::InputToWrite(const std::string& name) {
  const NDArray& input = Input(name);
  const auto is_shared = [&](const std::string& argument, const NDArray& array) {
    const auto v = shared_params_->find(argument);
    return v != shared_params_->end() && v->second.chunk() == array.chunk();
  };
  if (!shared_params_ || !is_shared(name, input)) return input;
  std::vector<NDArray> args = executor_->args;
  const auto names = executor_->ArgNames();
  for (size_t i = 0; i < args.size(); ++i) {
    if (!is_shared(names[i], args[i])) continue;
    args[i] = args[i].Copy(ctx_);
    arguments_[names[i]] = args[i];
  }
  executor_ = Executor::Bind(symbol_, ctx_, {}, args, {}, {}, executor_->aux);
  shared_params_.reset();
  return Input(name);
}

const NDArray& Predictor::Output(uint32_t index) const {
  const auto& outputs = executor_->Outputs();
  MXNET_CHECK_KIND(index < outputs.size(), Index) << "[predictor] output " << index << " of " << outputs.size();
  return outputs[index];
}

void Predictor::Bind(const Arrays& params, const Predictor* same) {
  const IndexedGraph g(symbol_.outputs);
  ShapeVector shapes(g.num_entries());
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  for (uint32_t id : g.input_nodes) {
    const std::string& name = g.nodes[id].source->name;
    const uint32_t e = g.eid(id, 0);
    auto s = shapes_.find(name);
    auto t = dtypes_.find(name);
    auto v = params.find(name);
    if (s != shapes_.end())
      shapes[e] = s->second;
    else if (v != params.end())
      shapes[e] = v->second.shape();
    if (t != dtypes_.end())
      dtypes[e] = t->second;
    else if (v != params.end())
      dtypes[e] = v->second.dtype();
  }
  MXNET_CHECK_KIND(InferShapes(g, &shapes), Value)
      << "[predictor] the given input shapes and parameters do not determine all shapes; give the shape of every input";
  MXNET_CHECK_KIND(InferTypes(g, &dtypes, kFloat32), Value) << "[predictor] the given dtypes and parameters do not determine all dtypes";
  MissingArrays missing(shapes_, params);
  auto array_of = [&](const NodePtr& n) {
    const uint32_t e = g.eid(g.id.at(n.get()), 0);
    const auto v = params.find(n->name);
    const bool is_input = shapes_.count(n->name) != 0, given = v != params.end();
    if (!is_input && given && v->second.ctx() == ctx_ && v->second.dtype() == dtypes[e]) return v->second;
    if (!is_input && !given) missing.Add(n->name, shapes[e], dtypes[e]);
    if (given && v->second.shape() == shapes[e]) {
      NDArray a(shapes[e], ctx_, dtypes[e]);
      CopyFromTo(v->second, a);
      return a;
    }
    // inputs and labels that the parameter file does not hold start at zero
    if (!is_input) zeros_.insert(n->name);
    return Zeros(shapes[e], ctx_, dtypes[e]);
  };
  std::vector<NDArray> args, aux;
  for (const NodePtr& n : symbol_.ListInputs(Symbol::kReadOnlyArgs)) {
    args.push_back(array_of(n));
    arguments_[n->name] = args.back();
  }
  for (const NodePtr& n : symbol_.ListInputs(Symbol::kAuxStates)) aux.push_back(array_of(n));
  executor_ = same ? same->executor_->SharePlan(args, aux) : Executor::Bind(symbol_, ctx_, {}, args, {}, {}, aux);
}

Predictor::Arrays Predictor::BoundParameters() const {
  Arrays params;
  const auto arg_names = executor_->ArgNames(), aux_names = executor_->AuxNames();
  for (size_t i = 0; i < arg_names.size(); ++i)
    if (!shapes_.count(arg_names[i]) && !zeros_.count(arg_names[i])) params[arg_names[i]] = executor_->args[i];
  for (size_t i = 0; i < aux_names.size(); ++i) params[aux_names[i]] = executor_->aux[i];
  return params;
}

}  // namespace mxnet
