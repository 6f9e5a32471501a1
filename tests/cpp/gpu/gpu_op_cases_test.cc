/*
 * The cases of tests/python/op_cases on the emulator of GPUs: an operator that has a case there is
 * tested here without a line of C++. tests/python/gpu_op_cases.py writes the file that is read.
 *
 * Of the gradient that a case asks for, every node of the graph is run: on the CPU to know what the
 * next one gets, and on the emulator to compare. What has no elements is not compared.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/graph.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

struct Value {
  Shape shape;
  int dtype = kFloat32;
  std::vector<char> bytes;
};
struct OpCase {
  std::string op;
  AttrDict attrs;
  std::vector<Value> inputs;
  std::vector<int> grad;  // inputs that get a gradient
};
struct CaseFile {
  std::set<const Op*> named;  // have cases in other files of this folder
  std::vector<OpCase> cases;
};

Value ReadInput(std::istringstream* line) {
  Value v;
  std::string dtype, number;
  int ndim = 0;
  *line >> dtype >> ndim;
  std::vector<int64_t> dims(ndim);
  for (int64_t& d : dims) *line >> d;
  v.shape = Shape(dims);
  v.dtype = DTypeFromName(dtype);
  v.bytes.resize(static_cast<size_t>(v.shape.Size()) * DTypeSize(v.dtype));
  for (int64_t i = 0; i < v.shape.Size(); ++i) {
    *line >> number;
    WriteElement(v.bytes.data(), v.dtype, i, std::stod(number));  // stod reads nan and inf
  }
  return v;
}

CaseFile ReadCases(const std::string& path) {
  CaseFile file;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path << " cannot be read";
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string what, key;
    line >> what;
    if (what == "named")
      while (line >> key) file.named.insert(Op::Find(key));
    if (what == "case") line >> file.cases.emplace_back().op;
    if (what == "attr") {
      line >> key >> std::ws;
      std::getline(line, file.cases.back().attrs[key]);
    }
    if (what == "input") file.cases.back().inputs.push_back(ReadInput(&line));
    if (what == "grad")
      for (int i = 0; line >> i;) file.cases.back().grad.push_back(i);
  }
  return file;
}

class OpCases : public DeviceKernels {
 protected:
  using Values = std::map<std::pair<const Node*, uint32_t>, Value>;

  /* What the node's outputs are on the CPU; its kernel for GPUs is compared with that later. */
  void RunNode(const Node& node, Values* values) {
    const Op* op = node.attrs->op;
    Case c{op->name, {}, {}, node.attrs->dict};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& v = values->at({node.inputs[i].node.get(), node.inputs[i].index});
      c.shapes.push_back(v.shape);
      c.dtypes.push_back(v.dtype);
      c.given[static_cast<int>(i)] = v.bytes;
    }
    const Result cpu = RunKernel(c, DeviceType::kCPU);
    for (size_t i = 0; i < cpu.bytes.size(); ++i)
      (*values)[{&node, static_cast<uint32_t>(i)}] = {cpu.shapes[i], cpu.dtypes[i], cpu.bytes[i]};
    const bool empty = cpu.bytes.empty() || cpu.bytes[0].empty();
    if (empty || file_.named.count(op) || !op->KernelFor(DeviceType::kGPU)) return;
    compared_.insert(op);
    auto want = std::make_shared<Result>(cpu), got = std::make_shared<Result>();
    auto ran = std::make_shared<int>(0);  // kernels, copies from the host, and the library's products
    Later(
        Name(c), 0,
        [c, got, ran] {
          const auto count = [] { return EmulatedDevice::launches() + EmulatedDevice::copies() + FakeGemmLibrary::multiplied(); };
          const int before = count();
          *got = RunKernel(c, DeviceType::kGPU);
          *ran = count() - before;
        },
        [c, want, got, ran] {
          EXPECT_GT(*ran, 0) << Name(c);
          for (size_t i = 0; i < want->bytes.size(); ++i) ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i], 20);
          for (size_t i = 0; i < want->inputs.size(); ++i)
            ExpectNear(c, got->inputs.at(i), want->inputs[i], c.dtypes[c.dtypes.size() == 1 ? 0 : i], 20);
        });
  }

  void RunCase(const OpCase& given) {
    const Op* op = Op::Get(given.op);
    if (!op->KernelFor(DeviceType::kCPU)) return;  // works on arrays
    AttrDict attrs = given.attrs;
    if (!op->key_var_num_args.empty()) attrs.emplace(op->key_var_num_args, std::to_string(given.inputs.size()));
    Values values;
    const NodePtr node = std::make_shared<Node>();
    node->attrs = MakeAttrs(op, attrs);
    for (const Value& v : given.inputs) node->inputs.push_back(Variable(v, &values));
    RunNode(*node, &values);
    if (given.grad.empty()) return;
    std::vector<NodeEntry> ograds;
    for (int i = 0; i < op->NumOutputs(*node->attrs); ++i)
      ograds.push_back(Variable(values.at({node.get(), static_cast<uint32_t>(i)}), &values));
    const std::vector<NodeEntry> grads = op->gradient(node, ograds);
    std::vector<NodeEntry> wanted;
    for (int i : given.grad)
      if (grads.at(i).node) wanted.push_back(grads[i]);
    DFSVisit(wanted, [&](const NodePtr& n) {
      if (!values.count({n.get(), 0})) RunNode(*n, &values);
    });
  }

  static NodeEntry Variable(const Value& v, Values* values) {
    const NodePtr node = MakeVariable("v");
    (*values)[{node.get(), 0}] = v;
    return {node, 0, 0};
  }

  FakeGemmLibrary products_;  // factorizations have matrix products between their kernels
  CaseFile file_;
  std::set<const Op*> compared_;  // at least once
};

TEST_F(OpCases, AsOnTheCpu) {
  file_ = ReadCases(MXNET_TEST_OP_CASES);
  for (const OpCase& c : file_.cases) {
    SCOPED_TRACE(c.op);
    if (!file_.named.count(Op::Get(c.op))) RunCase(c);
  }
  EXPECT_GT(compared_.size(), 40u);
}

}  // namespace
}  // namespace mxnet
