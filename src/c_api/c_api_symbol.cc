// Symbols over the C ABI: making, composing, listing, attributes, files.
#include "c_api/c_api_symbol.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/file_kinds.h"
#include "base/new_file.h"
#include "graph/rewrite.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace mxnet {

bool IsHiddenAttr(const std::string& key) {
  static const char* const kKeys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope"};
  for (const char* k : kKeys)
    if (key == k) return true;
  return false;
}

}  // namespace mxnet

namespace {

std::string FileKey(const char* key) {
  const std::string k = Text(key, "an attribute's name");
  return IsHiddenAttr(k) ? "__" + k + "__" : k;
}

AttrDict Dict(uint32_t n, const char** keys, const char** vals) {
  AttrDict dict;
  NeedTexts(n, keys, "parameters' names");
  NeedTexts(n, vals, "parameters' values");
  for (uint32_t i = 0; i < n; ++i) dict[FileKey(keys[i])] = vals[i];
  return dict;
}

// The store's list of NAME, VALUE, NAME, VALUE...; hidden attributes appear under both spellings,
// as in 1.9.1.
int GiveAttrs(const char* function, SymbolHandle symbol, bool recursive, uint32_t* out_size, const char*** out) {
  API_BEGIN_AS(function, out_size, out);
  std::vector<std::string> flat;
  for (const auto& kv : AsSymbol(symbol)->ListAttrs(recursive)) {
    flat.push_back(kv.first);
    flat.push_back(kv.second);
    const size_t begin = recursive ? kv.first.find('$') + 1 : 0;
    const std::string key = kv.first.substr(begin);
    if (key.size() > 4 && key.compare(0, 2, "__") == 0 && IsHiddenAttr(key.substr(2, key.size() - 4))) {
      flat.push_back(kv.first.substr(0, begin) + key.substr(2, key.size() - 4));
      flat.push_back(kv.second);
    }
  }
  GiveStrings(std::move(flat), out_size, out);
  *out_size /= 2;
  API_END();
}

int GiveNames(const char* function, SymbolHandle symbol, Symbol::ListOption option, uint32_t* out_size, const char*** out) {
  API_BEGIN_AS(function, out_size, out);
  GiveStrings(AsSymbol(symbol)->ListInputNames(option), out_size, out);
  API_END();
}

Symbol::ListOption ToListOption(int option) {
  MXNET_CHECK_KIND(option >= 0 && option <= 2, Value)
      << "[Symbol] list option " << option << "; accepted: 0 (all), 1 (arguments), 2 (auxiliary states)";
  return static_cast<Symbol::ListOption>(option);
}

}  // namespace

// ---- making

int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char** keys, const char** vals, SymbolHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(creator != nullptr, Value) << "[c_api] got a null operator handle";
  *out = new Symbol(Symbol::Atomic(static_cast<const Op*>(creator), Dict(num_param, keys, vals)));
  API_END();
}

/* The operator of a composed symbol with its parameters, without its inputs and its name. */
int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  const Symbol& symbol = *AsSymbol(sym_handle);
  MXNET_CHECK_KIND(!symbol.outputs.empty() && !symbol.outputs[0].node->is_variable(), Value)
      << "[symbol] got " << (symbol.outputs.empty() ? "a symbol without outputs" : "the variable '" + symbol.outputs[0].node->name + "'")
      << "; accepted: the result of an operator";
  const AttrsPtr& attrs = symbol.outputs[0].node->attrs;
  MXNET_CHECK_KIND(attrs->subgraphs.empty(), Value)
      << "[symbol] " << attrs->op->name << " holds graphs of its own; accepted: operators that do not";
  *ret_sym_handle = new Symbol(Symbol::Atomic(attrs->op, attrs->dict));
  API_END();
}

int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char** keys, const char** vals, SymbolHandle* out) {
  return MXSymbolCreateAtomicSymbol(op, num_param, keys, vals, out);
}

int MXSymbolCreateVariable(const char* name, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(Symbol::Variable(Text(name, "a variable's name")));
  API_END();
}

int NNSymbolCreateVariable(const char* name, SymbolHandle* out) { return MXSymbolCreateVariable(name, out); }

int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle* symbols, SymbolHandle* out) {
  API_BEGIN(out);
  std::vector<Symbol> parts;
  Need(num_symbols, symbols, "symbols");
  for (uint32_t i = 0; i < num_symbols; ++i) parts.push_back(*AsSymbol(symbols[i]));
  *out = new Symbol(Symbol::Group(parts));
  API_END();
}

int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle* symbols, SymbolHandle* out) {
  return MXSymbolCreateGroup(num_symbols, symbols, out);
}

int MXSymbolFree(SymbolHandle symbol) {
  API_BEGIN();
  delete static_cast<Symbol*>(symbol);
  API_END();
}

int NNSymbolFree(SymbolHandle symbol) { return MXSymbolFree(symbol); }

int MXSymbolCopy(SymbolHandle symbol, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(AsSymbol(symbol)->Copy());
  API_END();
}

int NNSymbolCopy(SymbolHandle symbol, SymbolHandle* out) { return MXSymbolCopy(symbol, out); }

int MXShallowCopySymbol(SymbolHandle src, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(*AsSymbol(src));
  API_END();
}

int MXSymbolCompose(SymbolHandle sym, const char* name, uint32_t num_args, const char** keys, SymbolHandle* args) {
  API_BEGIN();
  std::vector<Symbol> inputs;
  std::vector<std::string> names;
  Need(num_args, args, "inputs");
  for (uint32_t i = 0; i < num_args; ++i) {
    inputs.push_back(*AsSymbol(args[i]));
    names.push_back(keys ? Text(keys[i], "an input's name") : "");
  }
  AsSymbol(sym)->Compose(inputs, names, name ? name : "");
  API_END();
}

int NNSymbolCompose(SymbolHandle sym, const char* name, nn_uint num_args, const char** keys, SymbolHandle* args) {
  return MXSymbolCompose(sym, name, num_args, keys, args);
}

int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep) {
  API_BEGIN();
  const Symbol *to = AsSymbol(handle), *from = AsSymbol(src_dep);
  MXNET_CHECK_KIND(to->outputs.size() == 1 && from->outputs.size() == 1, Value)
      << "[Symbol] a control dependency joins two symbols of one output each";
  bool cycle = false;
  DFSVisit(from->outputs, [&](const NodePtr& n) { cycle = cycle || n == to->outputs[0].node; });
  MXNET_CHECK_KIND(!cycle, Value) << "[Symbol] " << from->outputs[0].node->name << " is computed from " << to->outputs[0].node->name
                                  << "; it cannot come before it";
  to->outputs[0].node->control_deps.push_back(from->outputs[0].node);
  API_END();
}

// ---- parts

int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(AsSymbol(symbol)->GetInternals());
  API_END();
}

int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out) { return MXSymbolGetInternals(symbol, out); }

int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(AsSymbol(symbol)->GetChildren());
  API_END();
}

int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out) { return MXSymbolGetChildren(symbol, out); }

int MXSymbolGetInputs(SymbolHandle symbol, SymbolHandle* out) {
  API_BEGIN(out);
  Symbol s;
  for (const auto& v : AsSymbol(symbol)->ListInputs(Symbol::kAll)) s.outputs.push_back({v, 0, 0});
  *out = new Symbol(s);
  API_END();
}

int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle** inputs, int* input_size) {
  API_BEGIN(inputs, input_size);
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (const auto& v : AsSymbol(sym)->ListInputs(Symbol::kAll)) {
    auto* s = new Symbol();
    s->outputs.push_back({v, 0, 0});
    store.handles.push_back(s);
  }
  *inputs = store.handles.data();
  *input_size = static_cast<int>(store.handles.size());
  API_END();
}

int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint* out_size, SymbolHandle** out_sym_array) {
  API_BEGIN(out_size, out_sym_array);
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (const auto& v : AsSymbol(symbol)->ListInputs(ToListOption(option))) {
    auto* s = new Symbol();
    s->outputs.push_back({v, 0, 0});
    store.handles.push_back(s);
  }
  *out_sym_array = store.handles.data();
  *out_size = static_cast<nn_uint>(store.handles.size());
  API_END();
}

int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol((*AsSymbol(symbol))[index]);
  API_END();
}

int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle* out) { return MXSymbolGetOutput(symbol, index, out); }

int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t* output_count) {
  API_BEGIN(output_count);
  *output_count = static_cast<uint32_t>(AsSymbol(symbol)->outputs.size());
  API_END();
}

int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint* output_count) { return MXSymbolGetNumOutputs(symbol, output_count); }

int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  *ret_sym_handle = new Symbol(RemoveAmpCast(*AsSymbol(sym_handle)));
  API_END();
}

int MXCheckDynamicShapeOp(SymbolHandle sym_handle, bool* has_dynamic_shape) {
  API_BEGIN(has_dynamic_shape);
  *has_dynamic_shape = false;
  DFSVisit(AsSymbol(sym_handle)->outputs,
           [&](const NodePtr& n) { *has_dynamic_shape = *has_dynamic_shape || (!n->is_variable() && n->op()->runs == RunBy::kArrays); });
  API_END();
}

// ---- names and attributes

int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char** wrt, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(GradientSymbol(*AsSymbol(sym), Names(num_wrt, wrt, "arguments' names")));
  API_END();
}

int MXSymbolListArguments(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array) {
  return GiveNames(__func__, symbol, Symbol::kReadOnlyArgs, out_size, out_str_array);
}

int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array) {
  return GiveNames(__func__, symbol, Symbol::kAuxStates, out_size, out_str_array);
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint* out_size, const char*** out_str_array) {
  API_BEGIN(out_size, out_str_array);
  GiveStrings(AsSymbol(symbol)->ListInputNames(ToListOption(option)), out_size, out_str_array);
  API_END();
}

int MXSymbolListOutputs(SymbolHandle symbol, uint32_t* out_size, const char*** out_str_array) {
  API_BEGIN(out_size, out_str_array);
  GiveStrings(AsSymbol(symbol)->ListOutputNames(), out_size, out_str_array);
  API_END();
}

int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint* out_size, const char*** out_str_array) {
  return MXSymbolListOutputs(symbol, out_size, out_str_array);
}

int MXSymbolGetName(SymbolHandle symbol, const char** out, int* success) {
  API_BEGIN(out, success);
  std::string name;
  *success = AsSymbol(symbol)->GetAttr("name", &name);
  *out = *success ? GiveText(name) : nullptr;
  API_END();
}

int MXSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success) {
  API_BEGIN(out, success);
  std::string value;
  const Symbol* s = AsSymbol(symbol);
  *success = s->GetAttr(Text(key, "an attribute's name"), &value) || s->GetAttr(FileKey(key), &value);
  *out = *success ? GiveText(value) : nullptr;
  API_END();
}

int NNSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success) {
  return MXSymbolGetAttr(symbol, key, out, success);
}

int MXSymbolSetAttr(SymbolHandle symbol, const char* key, const char* value) {
  API_BEGIN();
  AsSymbol(symbol)->SetAttr(FileKey(key), Text(value, "an attribute's value"));
  API_END();
}

int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char** keys, const char** values) {
  API_BEGIN();
  Symbol* s = AsSymbol(symbol);
  for (const auto& kv : Dict(num_param, keys, values)) s->SetAttr(kv.first, kv.second);
  API_END();
}

int MXSymbolListAttr(SymbolHandle symbol, uint32_t* out_size, const char*** out) {
  return GiveAttrs(__func__, symbol, true, out_size, out);
}
int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t* out_size, const char*** out) {
  return GiveAttrs(__func__, symbol, false, out_size, out);
}
int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint* out_size, const char*** out) {
  return GiveAttrs(__func__, symbol, recursive_option == 0, out_size, out);
}

int MXSymbolPrint(SymbolHandle symbol, const char** out_str) {
  API_BEGIN(out_str);
  *out_str = GiveText(AsSymbol(symbol)->Print());
  API_END();
}

int NNSymbolPrint(SymbolHandle symbol, const char** out_str) { return MXSymbolPrint(symbol, out_str); }

// ---- files

int MXSymbolCreateFromJSON(const char* json, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(SymbolFromJSON(Text(json, "the JSON text")));
  API_END();
}

int MXSymbolCreateFromFile(const char* fname, SymbolHandle* out) {
  API_BEGIN(out);
  RefuseKind(KindOfFile(Text(fname, "the file's name")), " symbol json text ", "symbol file", fname, "networks (-symbol.json)");
  std::ifstream file(LocalPath(fname), std::ios::binary);
  MXNET_CHECK_KIND(file.good(), IO) << "[symbol file] cannot open " << fname << ": " << std::strerror(errno);
  std::ostringstream text;
  text << file.rdbuf();
  *out = new Symbol(SymbolFromJSON(text.str()));
  API_END();
}

int MXSymbolSaveToJSON(SymbolHandle symbol, const char** out_json) {
  API_BEGIN(out_json);
  *out_json = GiveText(SymbolToJSON(*AsSymbol(symbol), NumpyShapes()));
  API_END();
}

int MXSymbolSaveToFile(SymbolHandle symbol, const char* fname) {
  API_BEGIN();
  const std::string text = SymbolToJSON(*AsSymbol(symbol), NumpyShapes());
  NewFile file("symbol file", Text(fname, "the file's name"));
  file.Write(text);
  file.Commit();
  API_END();
}
