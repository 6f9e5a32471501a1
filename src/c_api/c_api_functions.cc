// The functions on arrays that were there before operators, each on the operator of its name.
#include <algorithm>

#include "c_api/c_api_common.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

/* What the operator's record does not say: how many arrays are read, and which parameters come as
 * numbers. */
struct OldFunction {
  const char* name;
  uint32_t reads;
  std::vector<const char*> numbers;
  int type_mask;
};

constexpr int kArraysFirst = 1, kMayBeEmpty = 4;

const std::vector<OldFunction>& Functions() {
  constexpr int kArraysOnly = kArraysFirst | kMayBeEmpty;
  static const auto* functions = new std::vector<OldFunction>{
      {"_set_value", 0, {"src"}, 0},                                                   // operator-name: a function of the first releases
      {"_onehot_encode", 2, {}, kArraysOnly},                                          // operator-name: the same
      {"fill_element_0index", 3, {}, kArraysOnly},                                     // operator-name: the same
      {"_imdecode", 1, {"index", "x0", "y0", "x1", "y1", "c", "size"}, kArraysOnly}};  // operator-name: the same
  return *functions;
}

const OldFunction& AsFunction(FunctionHandle handle) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[c_api] got a null function handle; accepted: one of MXListFunctions";
  return *static_cast<const OldFunction*>(handle);
}

/* One that is given to an integer parameter is one without a fraction. */
std::string NumberText(const Op& op, const char* parameter, float value) {
  for (const ParamInfo& p : op.params)
    if (p.name == parameter && p.type.compare(0, 3, "int") == 0) {
      MXNET_CHECK_KIND(value >= -2147483648.0f && value < 2147483648.0f, Value)
          << "[" << op.name << "] " << parameter << " is " << value << "; accepted: an int of 32 bits";
      return std::to_string(static_cast<int>(value));
    }
  std::ostringstream os;
  os.precision(9);
  os << value;
  return os.str();
}

void Invoke(const OldFunction& f, NDArrayHandle* use_vars, const float* numbers, NDArrayHandle* mutate_vars, int num_params,
            char** param_keys, char** param_vals) {
  const Op* op = Op::Get(f.name);
  Need(static_cast<int64_t>(f.numbers.size()), numbers, "numbers");
  NeedTexts(num_params, param_keys, "parameters' names");
  NeedTexts(num_params, param_vals, "parameters' values");
  std::vector<NDArray*> in = AsNDArrays(use_vars, f.reads), out = AsNDArrays(mutate_vars, 1);
  for (NDArray* a : in) WithMemory(a);
  MXNET_CHECK_KIND(!out[0]->is_none() || (f.type_mask & kMayBeEmpty), Value)
      << "[" << f.name << "] the array to write has no shape yet; accepted: one that has";
  AttrDict dict;
  for (int i = 0; i < num_params; ++i) {
    const bool known = std::any_of(op->params.begin(), op->params.end(), [&](const ParamInfo& p) { return p.name == param_keys[i]; });
    if (known) dict[param_keys[i]] = param_vals[i];  // the first functions ignored what they did not know
  }
  for (size_t i = 0; i < f.numbers.size(); ++i) dict[f.numbers[i]] = NumberText(*op, f.numbers[i], numbers[i]);
  Imperative::Invoke(MakeAttrs(op, std::move(dict)), in, out);
}

}  // namespace

int MXListFunctions(uint32_t* out_size, FunctionHandle** out_array) {
  API_BEGIN(out_size, out_array);
  static const auto* handles = [] {
    auto* list = new std::vector<FunctionHandle>;
    for (const OldFunction& f : Functions()) list->push_back(&f);
    return list;
  }();
  *out_size = static_cast<uint32_t>(handles->size());
  *out_array = const_cast<FunctionHandle*>(handles->data());
  API_END();
}

int MXGetFunction(const char* name, FunctionHandle* out) {
  API_BEGIN(out);
  const std::string wanted = Text(name, "a function's name");
  *out = nullptr;
  for (const OldFunction& f : Functions())
    if (wanted == f.name) *out = &f;
  API_END();
}

int MXFuncGetInfo(FunctionHandle fun, const char** name, const char** description, uint32_t* num_args, const char*** arg_names,
                  const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type) {
  API_BEGIN(name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  const OldFunction& f = AsFunction(fun);
  const Op* op = Op::Get(f.name);
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  const auto add = [&](const std::string& what, const std::string& type, const std::string& text) {
    store.strings.insert(store.strings.end(), {what, type, text});
  };
  for (uint32_t i = 0; i < f.reads; ++i) add(op->input_names[i], "NDArray", "An array that is read.");
  for (const char* number : f.numbers)
    for (const ParamInfo& p : op->params)
      if (p.name == number) add(p.name, p.type, p.description);
  store.pointers.clear();
  store.pointers2.clear();
  store.pointers3.clear();
  for (size_t i = 0; i < store.strings.size(); i += 3) {
    store.pointers.push_back(store.strings[i].c_str());
    store.pointers2.push_back(store.strings[i + 1].c_str());
    store.pointers3.push_back(store.strings[i + 2].c_str());
  }
  *name = f.name;
  *description = op->description.c_str();
  *num_args = static_cast<uint32_t>(store.pointers.size());
  *arg_names = store.pointers.data();
  *arg_type_infos = store.pointers2.data();
  *arg_descriptions = store.pointers3.data();
  if (return_type) *return_type = "";
  API_END();
}

int MXFuncDescribe(FunctionHandle fun, uint32_t* num_use_vars, uint32_t* num_scalars, uint32_t* num_mutate_vars, int* type_mask) {
  API_BEGIN(num_use_vars, num_scalars, num_mutate_vars, type_mask);
  const OldFunction& f = AsFunction(fun);
  *num_use_vars = f.reads;
  *num_scalars = static_cast<uint32_t>(f.numbers.size());
  *num_mutate_vars = 1;
  *type_mask = f.type_mask;
  API_END();
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args, NDArrayHandle* mutate_vars) {
  API_BEGIN();
  Invoke(AsFunction(fun), use_vars, scalar_args, mutate_vars, 0, nullptr, nullptr);
  API_END();
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args, NDArrayHandle* mutate_vars, int num_params,
                   char** param_keys, char** param_vals) {
  API_BEGIN();
  Invoke(AsFunction(fun), use_vars, scalar_args, mutate_vars, num_params, param_keys, param_vals);
  API_END();
}
