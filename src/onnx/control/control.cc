// Nodes that run graphs on arrays: If, Loop, Scan, SequenceMap; and Constant. Searches: search.cc.
#include "onnx/control/control.h"

#include <algorithm>

#include "onnx/control/search.h"
#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {
namespace {

bool Truth(const Value& v, const Call& call) {
  if (v.kind != Value::kTensor || !v.known() || v.size() != 1) call.Refuse("a condition that is not one element");
  const NDArray a = OnCPU(v.array);
  char bytes[8] = {0};
  a.CopyBytesTo(bytes, DTypeSize(a.dtype()));
  return std::any_of(bytes, bytes + 8, [](char b) { return b != 0; });
}

/* What is known of the rows of a loop without rounds. Sizes that the file does not say are those of
 * the row that a round would give, if there can be one. */
std::vector<ValueInfo> RowsWithoutRounds(GraphCalls* calls, std::vector<Value> given, const GraphProto& body, size_t first) {
  std::vector<ValueInfo> about(body.outputs.begin() + static_cast<ptrdiff_t>(first), body.outputs.end());
  const auto all_known = [](const ValueInfo& v) {
    return v.has_shape && std::all_of(v.dims.begin(), v.dims.end(), [](const Dimension& d) { return d.size >= 0; });
  };
  if (std::all_of(about.begin(), about.end(), all_known)) return about;
  std::vector<Value> results;
  try {
    results = calls->Run(std::move(given));
  } catch (const Error&) {  // it reads what is not there, an element of an empty sequence say
    return about;
  }
  for (size_t k = 0; k < about.size(); ++k) {
    const Value& row = results[first + k];
    const bool strings = row.kind == Value::kStrings;
    if (!strings && row.kind != Value::kTensor) continue;
    if (about[k].has_shape && about[k].dims.size() != static_cast<size_t>(row.ndim())) continue;
    about[k].dims.resize(static_cast<size_t>(row.ndim()));
    for (int i = 0; i < row.ndim(); ++i)
      if (auto& size = about[k].dims[static_cast<size_t>(i)].size; size < 0) size = row.shape()[i];
    if (about[k].dtype == kDTypeUnknown) about[k].dtype = strings ? kStringType : row.dtype();
  }
  return about;
}

std::vector<Value> RunLoop(Session* session, const NodeProto& node, const Env& env) {
  Control c(session, node, env);
  const GraphProto& body = c.Body("body");
  c.call.CheckAttributes();
  const size_t carried = node.inputs.size() > 2 ? node.inputs.size() - 2 : 0;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
    c.call.Refuse("the body has " + std::to_string(body.inputs.size()) + " inputs and " + std::to_string(body.outputs.size()) +
                  " outputs; accepted: " + std::to_string(carried + 2) + " and at least " + std::to_string(carried + 1));
  const int64_t trips = c.call.has(0) ? c.call.Int(0) : INT64_MAX;
  bool go = !c.call.has(1) || Truth(c.call.in(1), c.call);
  std::vector<Value> state(c.call.inputs().begin() + std::min<ptrdiff_t>(2, c.call.num_inputs()), c.call.inputs().end());
  std::vector<std::vector<Value>> scanned(body.outputs.size() - carried - 1);
  GraphCalls calls(session, &body, env);
  const Value yes = c.call.Scalar(1, kBool);
  const bool endless = !c.call.has(0);
  const auto given = [&](int64_t i, std::vector<Value> states) {
    states.insert(states.begin(), {c.call.Scalar(static_cast<double>(i), kInt64), yes});
    return states;
  };
  std::vector<ValueInfo> rows;
  if (!scanned.empty() && (!go || trips <= 0))
    rows = RowsWithoutRounds(&calls, given(0, state), body, carried + 1);
  else
    rows.resize(scanned.size());
  for (int64_t i = 0; go && i < trips; ++i) {
    if (endless && i == (int64_t{1} << 32)) c.call.Refuse("more than 4294967296 rounds");
    std::vector<Value> results = calls.Run(given(i, std::move(state)));
    state.resize(carried);
    go = Truth(results[0], c.call);
    for (size_t k = 0; k < carried; ++k) state[k] = std::move(results[k + 1]);
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(std::move(results[carried + 1 + k]));
  }
  for (size_t k = 0; k < scanned.size(); ++k) state.push_back(c.Stack(scanned[k], 0, rows[k]));
  return state;
}

/* What an element along an axis would look like, of an array that has none there. */
Value NoElementOf(const Call& call, const Value& x, int axis) {
  std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
  dims.erase(dims.begin() + axis);
  const Shape shape(dims);
  if (x.kind == Value::kStrings) return StringsValue(shape, std::vector<std::string>(static_cast<size_t>(shape.Size())));
  return call.Filled(shape, x.dtype(), 0);
}

/* All rounds of a Scan over `inputs`; the first num_state of them are the state. */
std::vector<Value> ScanOnce(const Control& c, const GraphProto& body, const ScanSpec& spec, const std::vector<Value>& inputs) {
  std::vector<Value> state(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(spec.num_state));
  int64_t length = -1;
  std::vector<int> axes;
  for (size_t k = 0; k < spec.num_scan; ++k) {
    const Value& x = inputs[spec.num_state + k];
    axes.push_back(c.call.Axis(spec.in_axes[k], x.ndim()));
    const int64_t size = x.shape()[axes.back()];
    if (length >= 0 && size != length)
      c.call.Refuse("sequences of " + std::to_string(length) + " and of " + std::to_string(size) + " elements");
    length = size;
  }
  std::vector<std::vector<Value>> scanned(spec.num_out);
  GraphCalls calls(c.session, &body, c.env);
  std::vector<ValueInfo> rows(spec.num_out);
  if (length == 0) {
    std::vector<Value> given = state;
    for (size_t k = 0; k < spec.num_scan; ++k) given.push_back(NoElementOf(c.call, inputs[spec.num_state + k], axes[k]));
    rows = RowsWithoutRounds(&calls, std::move(given), body, spec.num_state);
  }
  for (int64_t i = 0; i < length; ++i) {
    std::vector<Value> given = std::move(state);
    for (size_t k = 0; k < spec.num_scan; ++k) {
      const int64_t at = spec.in_directions[k] ? length - 1 - i : i;
      given.push_back(c.ElementOf(inputs[spec.num_state + k], axes[k], at));
    }
    std::vector<Value> results = calls.Run(std::move(given));
    state.resize(spec.num_state);
    for (size_t k = 0; k < spec.num_state; ++k) state[k] = results[k];
    for (size_t k = 0; k < spec.num_out; ++k) scanned[k].push_back(results[spec.num_state + k]);
  }
  for (size_t k = 0; k < spec.num_out; ++k) {
    if (spec.out_directions[k]) std::reverse(scanned[k].begin(), scanned[k].end());
    state.push_back(c.Stack(scanned[k], spec.out_axes[k], rows[k]));
  }
  return state;
}

std::vector<Value> RunScan(Session* session, const NodeProto& node, const Env& env) {
  Control c(session, node, env);
  const GraphProto& body = c.Body("body");
  const bool batched = node.opset < 9;
  const size_t first = batched ? 1 : 0;
  const ScanSpec spec = ReadScan(c.call);
  std::vector<Value> inputs(c.call.inputs().begin() + static_cast<ptrdiff_t>(first), c.call.inputs().end());
  for (const Value& v : inputs)
    if (v.kind != Value::kTensor && v.kind != Value::kStrings) c.call.Refuse("an input is not a tensor");
  if (!batched) return ScanOnce(c, body, spec, inputs);
  if (c.call.has(0)) c.call.Refuse("sequence_lens are given; accepted: none");
  const int64_t examples = inputs.empty() || inputs[0].ndim() == 0 ? 0 : inputs[0].shape()[0];
  std::vector<std::vector<Value>> results;
  for (int64_t b = 0; b < examples; ++b) {
    std::vector<Value> one;
    for (const Value& v : inputs) one.push_back(c.ElementOf(v, 0, b));
    std::vector<Value> got = ScanOnce(c, body, spec, one);
    results.resize(got.size());
    for (size_t k = 0; k < got.size(); ++k) results[k].push_back(got[k]);
  }
  std::vector<Value> out;
  for (const auto& r : results) out.push_back(c.Stack(r, 0, ValueInfo()));
  return out;
}

std::vector<Value> RunSequenceMap(Session* session, const NodeProto& node, const Env& env) {
  Control c(session, node, env);
  const GraphProto& body = c.Body("body");
  c.call.CheckAttributes();
  if (c.call.in(0).kind != Value::kSequence || body.inputs.size() != c.call.inputs().size())
    c.call.Refuse("the first input is no sequence, or the body has another number of inputs");
  const size_t count = c.call.in(0).elements->size();
  std::vector<std::shared_ptr<std::vector<Value>>> made;
  for (size_t k = 0; k < body.outputs.size(); ++k) made.push_back(std::make_shared<std::vector<Value>>());
  GraphCalls calls(session, &body, env);
  for (size_t i = 0; i < count; ++i) {
    std::vector<Value> given;
    for (size_t k = 0; k < body.inputs.size(); ++k) {
      const Value& v = c.call.inputs()[k];
      if (v.kind == Value::kSequence && v.elements->size() != count) c.call.Refuse("sequences of different lengths");
      given.push_back(v.kind == Value::kSequence ? (*v.elements)[i] : v);
    }
    std::vector<Value> results = calls.Run(std::move(given));
    for (size_t k = 0; k < results.size(); ++k) made[k]->push_back(results[k]);
  }
  std::vector<Value> out(made.size());
  for (size_t k = 0; k < made.size(); ++k) {
    out[k].kind = Value::kSequence;
    out[k].elements = made[k];
    out[k].element_dtype = std::max(body.outputs[k].dtype, 0);
  }
  return out;
}

void ConvertConstant(Call& c) {
  for (const char* name :
       {"value_float", "value_int", "value_floats", "value_ints", "value_string", "value_strings", "sparse_value", "value"}) {
    if (!c.has_attr(name)) continue;
    const std::string key = name;
    if (key == "value_float") return c.Out(c.Scalar(c.Attr(name, 0.f), kFloat32));
    if (key == "value_int") {
      const int64_t i = c.Attr(name, int64_t{0});
      return c.Out(c.Tensor(Shape(0), kInt64, &i));
    }
    if (key == "value_ints") return c.Out(c.IntTensor(c.Attr(name, std::vector<int64_t>())));
    if (key == "value_floats") {
      const std::vector<float> v = c.Attr(name, std::vector<float>());
      return c.Out(c.Tensor(Shape{static_cast<int64_t>(v.size())}, kFloat32, v.data()));
    }
    if (key == "value_string") return c.Out(StringsValue(Shape(0), {c.Attr(name, "")}));
    if (key == "value_strings") {
      std::vector<std::string> strings = c.Attr(name, std::vector<std::string>());
      const Shape shape{static_cast<int64_t>(strings.size())};
      return c.Out(StringsValue(shape, std::move(strings)));
    }
    const Constant* t = c.TensorAttr(name);
    if (!t) c.Refuse(std::string("attribute ") + name + " is empty");
    return c.Out(ValueOf(*t));
  }
  c.Refuse("no value; accepted: one of value, value_float(s), value_int(s), value_string(s), sparse_value");
}

void RunsGraphs(Call& c) { c.Refuse("this operator runs graphs"); }  // never called: ControlOf and IsIf come first

}  // namespace

Value Control::Stack(std::vector<Value> values, int64_t axis, const ValueInfo& about) const {
  if (!values.empty()) {
    std::vector<std::string> strings;
    const bool texts = values[0].kind == Value::kStrings;
    for (Value& v : values) {
      v = Numbered(call, v, &strings);
      if (v.shape() != values[0].shape())
        call.Refuse("rounds give arrays of shapes " + values[0].shape().str() + " and " + v.shape().str() + "; accepted: equal ones");
    }
    const Value all = call.Op("_npi_stack", values, {{"axis", Text(axis)}, {"num_args", std::to_string(values.size())}});
    return texts ? Lettered(call, all, strings) : all;
  }
  std::vector<int64_t> dims;
  for (const Dimension& d : about.dims) dims.push_back(std::max<int64_t>(d.size, 0));
  dims.insert(dims.begin() + call.Axis(axis, static_cast<int>(dims.size()) + 1), 0);
  const Shape shape(dims);
  if (about.dtype == kStringType) return StringsValue(shape, {});
  return Value(NDArray(shape, Context::CPU(), about.dtype >= 0 ? about.dtype : static_cast<int>(kFloat32)));
}

Value Control::ElementOf(const Value& x, int axis, int64_t i) const {
  std::vector<std::string> strings;
  const Value at = call.Scalar(static_cast<double>(i), kInt64);
  const Value one = call.Op("_npi_take", {Numbered(call, x, &strings), at}, {{"axis", Text(axis)}, {"mode", "clip"}});
  return x.kind == Value::kStrings ? Lettered(call, one, strings) : one;
}

ScanSpec ReadScan(const Call& call) {
  const GraphProto* body = call.GraphAttr("body");
  const bool batched = call.opset < 9;  // with lengths, and a dimension of examples in front
  const size_t count = call.node.inputs.size(), given = count - std::min<size_t>(batched, count);
  ScanSpec spec;
  spec.num_scan = static_cast<size_t>(std::max<int64_t>(call.Attr("num_scan_inputs", int64_t{-1}), 0));
  if (!body || spec.num_scan == 0 || spec.num_scan > given || body->inputs.size() != given || body->outputs.size() < given - spec.num_scan)
    call.Refuse("num_scan_inputs is " + std::to_string(spec.num_scan) + " of " + std::to_string(given) + " inputs, the body has " +
                std::to_string(body ? body->inputs.size() : 0));
  spec.num_state = given - spec.num_scan;
  spec.num_out = body->outputs.size() - spec.num_state;
  const auto list = [&](const char* name, size_t length) {
    std::vector<int64_t> values = call.Attr(name, std::vector<int64_t>(length, 0));
    if (values.size() != length)
      call.Refuse(std::string("attribute ") + name + " has " + std::to_string(values.size()) +
                  " values; accepted: " + std::to_string(length));
    return values;
  };
  spec.in_axes = list("scan_input_axes", spec.num_scan);
  spec.out_axes = list("scan_output_axes", spec.num_out);
  spec.in_directions = list(batched ? "directions" : "scan_input_directions", spec.num_scan);
  spec.out_directions = list("scan_output_directions", spec.num_out);
  call.CheckAttributes();
  return spec;
}

ControlFn ControlOf(const NodeProto& node) {
  if (!node.domain.empty()) return SearchOf(node);
  if (node.op == "Loop") return RunLoop;
  if (node.op == "Scan") return RunScan;
  if (node.op == "SequenceMap") return RunSequenceMap;
  return nullptr;
}

bool IsIf(const NodeProto& node) { return node.domain.empty() && node.op == "If"; }

std::vector<Value> RunIf(Session* session, const NodeProto& node, const Env& env) {
  Control c(session, node, env);
  const GraphProto& branch = c.Body(Truth(c.call.in(0), c.call) ? "then_branch" : "else_branch");
  return GraphCalls(session, &branch, env).Run({});
}

const Rules& CoreRules() {
  static const Rules rules = {{"", "Constant", 1, kNewest, ConvertConstant, nullptr},
                              {"", "If", 1, kNewest, RunsGraphs, nullptr},
                              {"", "Loop", 1, kNewest, RunsGraphs, nullptr},
                              {"", "Scan", 8, kNewest, RunsGraphs, nullptr},
                              {"", "SequenceMap", 17, kNewest, RunsGraphs, nullptr},
                              {"com.microsoft", "GreedySearch", 1, kNewest, RunsGraphs, nullptr},
                              {"com.microsoft", "Sampling", 1, kNewest, RunsGraphs, nullptr},
                              {"com.microsoft", "BeamSearch", 1, kNewest, RunsGraphs, nullptr},
                              {"com.microsoft", "WhisperBeamSearch", 1, kNewest, RunsGraphs, nullptr}};
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
