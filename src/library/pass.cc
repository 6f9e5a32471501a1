// Passes of users' libraries.
#include "library/graphs.h"
#include "library/library.h"
#include "library/texts.h"
#include "mxnet/op.h"

namespace mxnet {
namespace library {
namespace {

struct Collected {
  std::string graph;
  Arrays made;
  std::string error;
};

void PutText(void* to, const char* key, const char* value) {
  if (std::string(key) == "graph") static_cast<Collected*>(to)->graph = value;
}

/* No exception may pass through a library. */
int MakeArray(void* to, int is_aux, const char* name, const int64_t* dims, int ndim, const char* device, int device_id, int dtype,
              MXExtTensor* made) noexcept {
  auto* collected = static_cast<Collected*>(to);
  try {
    MXNET_CHECK_KIND(dtype >= 0 && dtype < kNumDTypes, Type) << "[library] a pass asks for an array of the dtype number " << dtype;
    const Context ctx = std::string(device) == "gpu" ? Context::GPU(device_id) : Context::CPU(device_id);
    auto& arrays = is_aux ? collected->made.aux : collected->made.args;
    MXNET_CHECK_KIND(!arrays.count(name), Value) << "[library] a pass makes two parameters of the name " << name;
    NDArray& array = arrays[name] = NDArray(Shape(std::vector<int64_t>(dims, dims + ndim)), ctx, dtype);
    *made = TensorOf(array.data(), array.version());
    made->shape = array.shape().dims();
    return 1;
  } catch (const std::exception& e) {
    collected->error = e.what();
    return 0;
  }
}

}  // namespace

Rewritten RunPass(const Library& library, size_t pass, const Request& request) {
  const MXExtLibrary& t = *library.table;
  const std::string graph = SymbolToJSON(Described(request));
  const Texts options(request.options);
  const NamedTensors args(request.given.args), aux(request.given.aux);
  Collected collected;
  const int ok = t.run_pass(pass, graph.c_str(), options.get(), args.get(), aux.get(), &collected, PutText, MakeArray);
  const std::string why = Why(library);
  MXNET_CHECK(ok && !collected.graph.empty()) << "[optimize_for] the pass " << t.pass_name(pass) << " failed" << why
                                              << (collected.error.empty() ? "" : " (" + collected.error + ")");
  Rewritten result{Undescribed(SymbolFromJSON(collected.graph)), {}};
  for (const std::string& name : result.symbol.ListInputNames(Symbol::kAll))
    for (auto list : {&Arrays::args, &Arrays::aux}) {
      const auto found = (collected.made.*list).find(name);
      if (found != (collected.made.*list).end()) (result.made.*list)[name] = found->second;
    }
  return result;
}

}  // namespace library
}  // namespace mxnet
