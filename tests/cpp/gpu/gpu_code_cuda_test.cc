/*
 * Machine code for a Hopper GPU of the kernels that operators launch with sizes as in training,
 * without a device: none keeps arrays in local memory. With KERNELS_OUT=FOLDER in the environment
 * code and launch shapes are written there, for tools/gpu_kernels.py.
 */
#include "gpu_code_cuda.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "mxnet/error.h"
#include "mxnet/graph.h"
#include "mxnet/op.h"
#include "operator/nn/rnn/gpu_rnn_steps.h"
#include "rtc/compile.h"
#include "rtc/module.h"

namespace mxnet {
namespace {

struct Launched {
  const rtc::Kernel* kernel;
  rtc::LaunchShape shape;
};
std::vector<Launched> g_launched;
size_t g_bytes = 0;  // of the problem's arrays
void NoteLaunch(const rtc::Kernel& kernel, const rtc::LaunchShape& shape, void*, size_t, const RunContext&) {
  g_launched.push_back({&kernel, shape});
}
void ReadNothing(const void*, void* dst, size_t bytes, const RunContext&) { std::memset(dst, 0, bytes); }
const rtc::LaunchHooks kNote = {NoteLaunch, ReadNothing};

RunContext OnGpu() {
  RunContext run;
  run.ctx = Context::GPU(0);
  return run;
}
// Addresses of nothing, far apart and aligned as the pools' are.
struct Addresses {
  uintptr_t next = uintptr_t{1} << 40;
  void* New(size_t bytes) {
    void* p = reinterpret_cast<void*>(next);
    next += (bytes + 511) / 256 * 256;
    return p;
  }
};

struct Problem {
  const char* op;
  std::vector<Shape> shapes;
  std::vector<int> dtypes;  // one for all, or one per input
  AttrDict attrs;
  OpReq req = OpReq::kWrite;
  uint32_t last = 0;  // bit i: channels of input i lie last; output 0's as those of input 0
};

void LaunchKernelsOf(const Problem& p) {
  const Op* op = Op::Get(p.op);
  AttrsPtr attrs = MakeAttrs(op, p.attrs);
  if (std::string(p.op) == "_fused_pointwise") {  // tanh(a * b + 2) * sigmoid(c)
    const NodePtr a = MakeVariable("a"), b = MakeVariable("b"), c = MakeVariable("c");
    const NodeEntry left =
        MakeOp("Activation", {MakeOp("_plus_scalar", {MakeOp("elemwise_mul", {{a, 0, 0}, {b, 0, 0}})}, {{"scalar", "2"}})},
               {{"act_type", "tanh"}});
    auto graph = std::make_shared<Symbol>();
    graph->outputs = {MakeOp("broadcast_mul", {left, MakeOp("sigmoid", {{c, 0, 0}})})};
    auto own = std::make_shared<Attrs>(*attrs);
    own->subgraphs = {graph};
    attrs = own;
  }
  ShapeVector in_shapes(p.shapes.begin(), p.shapes.end()), out_shapes(op->NumOutputs(*attrs));
  std::vector<int> in_types, out_types(out_shapes.size(), kDTypeUnknown);
  for (size_t i = 0; i < in_shapes.size(); ++i) in_types.push_back(p.dtypes[p.dtypes.size() == 1 ? 0 : i]);
  ASSERT_TRUE(InferCall(*attrs, {}, &in_shapes, &out_shapes)) << p.op;
  ASSERT_TRUE(InferCall(*attrs, {}, &in_types, &out_types)) << p.op;
  Addresses memory;
  auto blobs = [&](const ShapeVector& shapes, const std::vector<int>& types) {
    std::vector<TBlob> out(shapes.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i].shape = shapes[i], out[i].dtype = types[i], out[i].ctx = Context::GPU(0), out[i].dptr = memory.New(out[i].Bytes());
    return out;
  };
  std::vector<TBlob> in = blobs(in_shapes, in_types), out = blobs(out_shapes, out_types);
  for (size_t i = 0; i < in.size(); ++i)
    if (p.last >> i & 1u) in[i].layout = Layout::kChannelsLast;
  if (p.last & 1u) out[0].layout = Layout::kChannelsLast;
  g_bytes = 0;
  for (const auto* list : {&in, &out})
    for (const TBlob& b : *list) g_bytes += b.Bytes();
  const std::vector<OpReq> req(out.size(), p.req);
  RandomState random;
  std::shared_ptr<OpState> slot;
  KernelArgs a;
  a.attrs = attrs.get();
  a.in = Span<const TBlob>(in);
  a.out = Span<const TBlob>(out);
  a.req = Span<const OpReq>(req);
  a.run = OnGpu();
  a.is_train = true;
  a.random = &random;
  a.state = &slot;
  a.workspace = [&](size_t bytes) { return memory.New(bytes); };
  (*op->KernelFor(DeviceType::kGPU))(a);
}

// One example of each family, with shapes of ResNet-50 and BERT-base where these have it.
std::vector<Problem> Problems() {
  const Shape flat{1 << 26}, matrix{8192, 8192}, image{64, 256, 56, 56}, tokens{16384, 1024};
  std::vector<Problem> all;
  for (int dtype : {kFloat32, kFloat16, kBfloat16, kFloat64, kInt32, kInt8}) {
    all.push_back({"elemwise_add", {flat, flat}, {dtype}, {}});
    all.push_back({"_mul_scalar", {flat}, {dtype}, {{"scalar", "2"}}});
  }
  for (int dtype : {kFloat32, kFloat16, kBfloat16}) {
    for (const char* op : {"relu", "exp", "tanh", "sigmoid", "erf", "sqrt", "log", "sin"}) all.push_back({op, {flat}, {dtype}, {}});
    all.push_back({"elemwise_div", {flat, flat}, {dtype}, {}});
    all.push_back({"_fused_pointwise", {matrix, matrix, {1, 8192}}, {dtype}, {{"num_args", "3"}}});
    all.push_back({"_fused_pointwise", {matrix, matrix, matrix}, {dtype}, {{"num_args", "3"}}});
    all.push_back({"broadcast_add", {matrix, {1, 8192}}, {dtype}, {}});
    all.push_back({"broadcast_mul", {matrix, {8192, 1}}, {dtype}, {}});
    all.push_back({"broadcast_add", {image, {1, 256, 1, 1}}, {dtype}, {}});
    all.push_back({"LeakyReLU", {flat}, {dtype}, {{"act_type", "gelu"}}});
    all.push_back({"_backward_LeakyReLU", {flat, flat}, {dtype}, {{"act_type", "gelu"}}});
    all.push_back({"_backward_Dropout", {flat, flat}, {dtype}, {}});
    all.push_back({"Dropout", {flat}, {dtype}, {{"p", "0.1"}}});
    all.push_back({"add_n", {flat, flat, flat, flat}, {dtype}, {{"num_args", "4"}}});
  }
  all.push_back({"elemwise_add", {flat, flat}, {kFloat32}, {}, OpReq::kAdd});
  all.push_back({"_npi_greater", {flat, flat}, {kFloat32}, {}});
  for (const char* to : {"float16", "float64", "int8", "uint8", "bool", "int64"})
    all.push_back({"Cast", {flat}, {kFloat32}, {{"dtype", to}}});
  for (int from : {kFloat16, kUint8, kInt64, kFloat64}) all.push_back({"Cast", {flat}, {from}, {{"dtype", "float32"}}});
  // reductions
  for (int dtype : {kFloat32, kFloat16, kBfloat16, kInt32, kInt8, kUint8, kBool, kFloat64})
    for (const char* axis : {"None", "(0,)", "(1,)"}) all.push_back({"sum", {matrix}, {dtype}, {{"axis", axis}}});
  for (const char* op : {"max", "mean", "prod", "nansum"}) all.push_back({op, {matrix}, {kFloat32}, {{"axis", "1"}}});
  for (int dtype : {kFloat32, kFloat16}) {
    all.push_back({"max", {matrix}, {dtype}, {{"axis", "0"}}});
    all.push_back({"norm", {matrix}, {dtype}, {}});
    all.push_back({"argmax", {matrix}, {dtype}, {{"axis", "1"}}});
    all.push_back({"argmax", {matrix}, {dtype}, {{"axis", "0"}}});
    all.push_back({"sum", {image}, {dtype}, {{"axis", "(0, 2, 3)"}}});
    all.push_back({"sum", {{1 << 22, 16}}, {dtype}, {{"axis", "1"}}});
    all.push_back({"sum", {{1 << 22, 15}}, {dtype}, {{"axis", "1"}}});
  }
  // softmax and normalisation
  for (int dtype : {kFloat32, kFloat16}) {
    const int param = kFloat32;
    const Shape channels{256}, scores{64, 12, 512, 512}, words{4096, 30522}, last{tokens[1]};
    for (const char* op : {"softmax", "log_softmax"}) {
      const std::string back = std::string("_backward_") + op;
      for (const Shape& s : {scores, Shape{8192, 1000}, Shape{1 << 20, 64}, words}) {
        all.push_back({op, {s}, {dtype}, {}});
        all.push_back({back == "_backward_softmax" ? "_backward_softmax" : "_backward_log_softmax", {s, s}, {dtype}, {}});
      }
      all.push_back({op, {{64, 21, 128, 128}}, {dtype}, {{"axis", "1"}}});
    }
    all.push_back({"LayerNorm", {tokens, last, last}, {dtype}, {}});
    all.push_back({"_backward_LayerNorm", {tokens, tokens, last}, {dtype}, {}});
    all.push_back({"LayerNorm", {{4096, 16384}, {16384}, {16384}}, {dtype}, {}});
    all.push_back({"_backward_LayerNorm", {{4096, 16384}, {4096, 16384}, {16384}}, {dtype}, {}});
    all.push_back({"GroupNorm", {image, channels, channels}, {dtype}, {{"num_groups", "32"}}});
    all.push_back({"_backward_GroupNorm", {image, image, channels}, {dtype}, {{"num_groups", "32"}}});
    all.push_back({"InstanceNorm", {image, channels, channels}, {dtype}, {}});
    all.push_back({"_backward_InstanceNorm", {image, image, channels}, {dtype}, {}});
    for (uint32_t order : {0u, 1u}) {
      const std::vector<int> types = {dtype, param, param, param, param}, back = {dtype, dtype, param, param, param, param, param, param};
      all.push_back({"BatchNorm", {image, channels, channels, channels, channels}, types, {{"fix_gamma", "0"}}, OpReq::kWrite, order});
      all.push_back({"_contrib_BatchNormWithReLU",
                     {image, channels, channels, channels, channels},
                     types,
                     {{"fix_gamma", "0"}},
                     OpReq::kWrite,
                     order});
      all.push_back({"_backward_BatchNorm",
                     {image, image, channels, channels, channels, channels, channels},
                     std::vector<int>(back.begin(), back.end() - 1),
                     {{"fix_gamma", "0"}},
                     OpReq::kWrite,
                     order * 3});
      all.push_back({"_backward_BatchNormWithReLU",
                     {image, image, channels, channels, channels, channels, channels, channels},
                     back,
                     {{"fix_gamma", "0"}},
                     OpReq::kWrite,
                     order * 3});
      all.push_back({"_fused_batch_norm_add_relu",
                     {image, channels, channels, image, channels, channels},
                     {dtype, param, param, dtype, param, param},
                     {{"fix_gamma", "0"}},
                     OpReq::kWrite,
                     order * 9});
      all.push_back({"_backward_fused_batch_norm_add_relu",
                     {image, {image.Size() / 8 + 64}, image, channels, channels, channels, channels, channels},
                     {dtype, kUint8, dtype, param, param, param, param, param},
                     {{"fix_gamma", "0"}},
                     OpReq::kWrite,
                     order * 5});
      const AttrDict pool = {{"pool_type", "max"}, {"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}},
                     global = {{"pool_type", "avg"}, {"global_pool", "1"}};
      const Shape big{64, 64, 112, 112}, small{64, 64, 56, 56}, end{64, 2048, 7, 7}, one{64, 2048, 1, 1};
      all.push_back({"Pooling", {big}, {dtype}, pool, OpReq::kWrite, order});
      all.push_back({"_backward_Pooling", {small, big, small}, {dtype}, pool, OpReq::kWrite, order * 7});
      all.push_back({"Pooling", {end}, {dtype}, global, OpReq::kWrite, order});
      all.push_back({"_backward_Pooling", {one, end, one}, {dtype}, global, OpReq::kWrite, order * 7});
    }
    all.push_back({"SoftmaxOutput", {{8192, 1000}, {8192}}, {dtype}, {}});
    all.push_back({"_backward_SoftmaxOutput", {{8192}, {8192, 1000}}, {kFloat32, dtype}, {}});
    all.push_back({"softmax_cross_entropy", {words, {4096}}, {dtype, kFloat32}, {}});
    // copies, indices, order
    all.push_back({"transpose", {matrix}, {dtype}, {}});
    all.push_back({"transpose", {{64, 512, 12, 64}}, {dtype}, {{"axes", "(0, 2, 1, 3)"}}});
    all.push_back({"Concat", {image, image}, {dtype}, {{"num_args", "2"}, {"dim", "1"}}});
    all.push_back({"slice", {matrix}, {dtype}, {{"begin", "(0, 3)"}, {"end", "(8192, 8000)"}}});
    all.push_back({"take", {{30522, 768}, {128, 512}}, {dtype, kInt32}, {}});
    all.push_back({"_backward_take", {{128, 512, 768}, {128, 512}, {30522, 768}}, {dtype, kInt32, dtype}, {}});
    all.push_back({"Embedding", {{128, 512}, {30522, 768}}, {kInt32, dtype}, {{"input_dim", "30522"}, {"output_dim", "768"}}});
    all.push_back({"one_hot", {{65536}}, {kInt32}, {{"depth", "1000"}, {"dtype", DTypeName(dtype)}}});
    all.push_back({"gather_nd", {{8192, 8192}, {1, 4096}}, {dtype, kInt32}, {}});
    all.push_back({"scatter_nd", {{4096, 8192}, {1, 4096}}, {dtype, kInt32}, {{"shape", "(8192, 8192)"}}});
    all.push_back({"where", {matrix, matrix, matrix}, {dtype}, {}});
    all.push_back({"topk", {{8192, 1000}}, {dtype}, {{"k", "5"}}});
    all.push_back({"argsort", {{1 << 24}}, {dtype}, {}});
    all.push_back({"_np_cumsum", {matrix}, {dtype}, {{"axis", "1"}}});
    all.push_back({"_np_cumsum", {matrix}, {dtype}, {{"axis", "0"}}});
    all.push_back({"SequenceMask", {{512, 128, 768}, {128}}, {dtype, kInt32}, {{"use_sequence_length", "1"}}});
    all.push_back({"Pad", {image}, {dtype}, {{"mode", "constant"}, {"pad_width", "(0,0,0,0,1,1,1,1)"}}});
    // updates, fills, draws
    all.push_back({"sgd_mom_update", {flat, flat, flat}, {dtype}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
    all.push_back({"adam_update", {flat, flat, flat, flat}, {dtype}, {{"lr", "0.1"}}});
    all.push_back({"_full", {}, {}, {{"shape", "(67108864,)"}, {"value", "2.5"}, {"dtype", DTypeName(dtype)}}});
    all.push_back({"_zeros", {}, {}, {{"shape", "(67108864,)"}, {"dtype", DTypeName(dtype)}}});
    all.push_back({"_arange", {}, {}, {{"start", "0"}, {"stop", "67108864"}, {"dtype", DTypeName(dtype)}}});
    all.push_back({"_random_uniform", {}, {}, {{"shape", "(67108864,)"}, {"dtype", DTypeName(dtype)}}});
    all.push_back({"_random_normal", {}, {}, {{"shape", "(67108864,)"}, {"dtype", DTypeName(dtype)}}});
  }
  const Shape half{1 << 25};
  all.push_back(
      {"mp_sgd_mom_update", {flat, flat, flat, flat}, {kFloat16, kFloat16, kFloat32, kFloat32}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
  all.push_back({"lamb_update_phase1", {flat, flat, flat, flat}, {kFloat32}, {{"t", "3"}, {"wd", "0.01"}}});
  all.push_back({"multi_sgd_mom_update",
                 {flat, flat, flat, half, half, half},
                 {kFloat32},
                 {{"lrs", "(0.1, 0.2)"}, {"wds", "(0.01, 0)"}, {"num_weights", "2"}, {"momentum", "0.9"}}});
  all.push_back({"multi_mp_sgd_mom_update",
                 {flat, flat, flat, flat, half, half, half, half},
                 {kFloat16, kFloat16, kFloat32, kFloat32, kFloat16, kFloat16, kFloat32, kFloat32},
                 {{"lrs", "(0.1, 0.2)"}, {"wds", "(0.01, 0)"}, {"num_weights", "2"}, {"momentum", "0.9"}}});
  all.push_back({"multi_sum_sq", {flat, half}, {kFloat32}, {{"num_arrays", "2"}}});
  all.push_back({"all_finite", {flat}, {kFloat32}, {}});
  all.push_back({"_random_gamma", {}, {}, {{"shape", "(1048576,)"}, {"alpha", "0.5"}, {"beta", "2"}}});
  return all;
}

std::string Title(const Problem& p) {
  std::string t = p.op;
  for (const Shape& s : p.shapes) {
    t += " ";
    for (int d = 0; d < s.ndim(); ++d) t += (d ? "x" : "") + std::to_string(s[d]);
  }
  std::set<int> seen;
  for (int d : p.dtypes)
    if (seen.insert(d).second) t += std::string(" ") + DTypeName(d);
  for (const char* name : {"axis", "dtype", "axes", "act_type", "pool_type"})
    if (p.attrs.count(name)) t += std::string(" ") + name + "=" + p.attrs.at(name);
  return t + (p.req == OpReq::kAdd ? " add" : "") + (p.last ? " channels last" : "");
}

void LaunchSteps() {  // of recurrent layers: LSTM, 16-bit operands
  nn::RnnDirection direction;
  direction.operand = kFloat16;
  direction.mode = 2;
  direction.batch = 128;
  direction.hidden = direction.out = direction.width = 1024;
  direction.gates = 4;
  nn::RnnStep step;
  nn::RnnStepBack back;
  back.before = 0;
  nn::RnnStepOnDevice(OnGpu(), direction, step);
  nn::RnnStepBackOnDevice(OnGpu(), direction, back);
}

// A register or two, where more would cost occupancy: an array that is indexed at run time is
// larger. Rejection sampling calls functions with frames of their own.
int MostLocalBytes(const std::string& kernel) { return kernel == "random_SampleGamma" ? 128 : 32; }

TEST(KernelCode, NoArraysInLocalMemory) {
  const char* folder = std::getenv("KERNELS_OUT");
  const bool all = folder || std::getenv("NIGHTLY");
  std::ofstream list;
  if (folder) {
    list.open(std::string(folder) + "/kernels.tsv");
    ASSERT_TRUE(list) << folder;
    list << "file\tproblem\tkernel\tregisters\tlocal\tshared\tcode\tgrid\tblock\tbytes\n";
  }
  const ScopedPart kernels(GpuInterface().kernels, &kNote);
  std::set<const rtc::Kernel*> seen;
  int number = 0, turn = 0;
  auto look = [&](const std::string& title) {
    for (const Launched& l : g_launched) {
      if (!seen.insert(l.kernel).second) continue;
      rtc::CompileRequest r;
      r.name = l.kernel->name + ".cu";
      r.source = l.kernel->source;
      r.options = rtc::KernelOptions();
      r.architecture = "sm_90";
      const std::string code = rtc::Compile(r).code;
      const CodeResources c = ResourcesOf(code, l.kernel->name);
      EXPECT_LE(c.local_bytes, MostLocalBytes(l.kernel->name)) << l.kernel->name << " of " << title;
      EXPECT_LE(c.registers * static_cast<int>(l.shape.block[0]), 65536) << l.kernel->name << " of " << title;
      if (!folder) continue;
      const std::string file = std::to_string(number++) + "-" + l.kernel->name;
      std::ofstream(std::string(folder) + "/" + file + ".cubin", std::ios::binary) << code;
      std::ofstream(std::string(folder) + "/" + file + ".cu") << l.kernel->source;
      list << file << "\t" << title << "\t" << l.kernel->name << "\t" << c.registers << "\t" << c.local_bytes << "\t" << c.shared_bytes
           << "\t" << c.code_bytes << "\t" << l.shape.grid[0] << "x" << l.shape.grid[1] << "x" << l.shape.grid[2] << "\t"
           << l.shape.block[0] << "\t" << g_bytes << "\n";
    }
    g_launched.clear();
  };
  for (const Problem& p : Problems()) {
    if (!all && turn++ % 12) continue;
    try {
      LaunchKernelsOf(p);
    } catch (const Error& e) {
      ADD_FAILURE() << Title(p) << ": " << e.what();
    }
    look(Title(p));
  }
  LaunchSteps();
  look("LSTM float16");
  EXPECT_GT(seen.size(), all ? 150u : 10u);
}

}  // namespace
}  // namespace mxnet
