// Graphs with attributes, and passes by name.
#include "c_api/c_api_symbol.h"
#include "graph/named/named_graph.h"

using namespace mxnet;  // NOLINT

namespace {

NamedGraph* AsGraph(GraphHandle handle) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[c_api] got a null graph handle; accepted: one of NNGraphCreate";
  return static_cast<NamedGraph*>(handle);
}

}  // namespace

int NNGraphCreate(SymbolHandle symbol, GraphHandle* graph) {
  API_BEGIN(graph);
  *graph = new NamedGraph{*AsSymbol(symbol), {}};
  API_END();
}

int NNGraphFree(GraphHandle handle) {
  API_BEGIN();
  delete static_cast<NamedGraph*>(handle);
  API_END();
}

int NNGraphGetSymbol(GraphHandle graph, SymbolHandle* symbol) {
  API_BEGIN(symbol);
  *symbol = new Symbol(AsGraph(graph)->symbol);
  API_END();
}

int NNGraphSetJSONAttr(GraphHandle handle, const char* key, const char* json_value) {
  API_BEGIN();
  NamedGraph* graph = AsGraph(handle);
  graph->attrs[Text(key, "an attribute's name")] = GraphAttr::FromJson(Text(json_value, "an attribute's value"));
  API_END();
}

int NNGraphGetJSONAttr(GraphHandle handle, const char* key, const char** json_out, int* success) {
  API_BEGIN(json_out, success);
  NamedGraph* graph = AsGraph(handle);
  const auto found = graph->attrs.find(Text(key, "an attribute's name"));
  *success = 0;
  if (found != graph->attrs.end()) {
    *json_out = GiveText(found->second.ToJson());
    *success = 1;
  }
  API_END();
}

int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char* key, SymbolHandle list) {
  API_BEGIN();
  NamedGraph* graph = AsGraph(handle);
  GraphAttr attr;
  attr.type = GraphAttr::kEntries;
  attr.entries = AsSymbol(list)->outputs;
  graph->attrs[Text(key, "an attribute's name")] = std::move(attr);
  API_END();
}

int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char** pass_names, GraphHandle* dst) {
  API_BEGIN(dst);
  *dst = new NamedGraph(ApplyPasses(*AsGraph(src), Names(num_pass, pass_names, "passes' names")));
  API_END();
}
