/* Attention of GPUs: in one kernel of a library, which is a fake on host memory here, and in parts,
 * against the CPU's. */
#include "fake_attention_library.h"
#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

using gpu_library::AttentionProblem;

const int kTypes[] = {kFloat32, kFloat16, kBfloat16};

struct Attention {
  int64_t batch = 2, heads = 3, rows = 5, columns = 7, width = 8, value_width = 16;
  int dtype = kFloat16;
  Shape mask = {};
  int mask_dtype = kFloat32;
  bool misaligned = false;
  std::string layout = "separate";  // others: rows are columns in selfatt, values as wide as queries
  int64_t lengths = 0;              // for each head of each example
  float dropout = 0;
};
template <typename T>
std::vector<char> Bytes(const std::vector<T>& v) {
  return {reinterpret_cast<const char*>(v.data()), reinterpret_cast<const char*>(v.data() + v.size())};
}
std::vector<Shape> Arrays(const Attention& a) {
  if (a.layout == "selfatt") return {{a.rows, a.batch, a.heads * 3 * a.width}};
  if (a.layout == "encdec") return {{a.rows, a.batch, a.heads * a.width}, {a.columns, a.batch, a.heads * 2 * a.width}};
  return {{a.batch, a.rows, a.heads * a.width}, {a.batch, a.columns, a.heads * a.width}, {a.batch, a.columns, a.heads * a.value_width}};
}
Case Forward(const Attention& a, bool statistics) {
  Case c{"_fused_attention",
         Arrays(a),
         std::vector<int>(Arrays(a).size(), a.dtype),
         {{"scale", "0.3"},
          {"heads", std::to_string(a.heads)},
          {"layout", a.layout},
          {"with_mask", a.mask.ndim() > 0 ? "1" : "0"},
          {"with_length", a.lengths ? "1" : "0"},
          {"with_statistics", statistics ? "1" : "0"},
          {"dropout", std::to_string(a.dropout)}},
         OpReq::kWrite,
         -2,
         2,
         a.misaligned};
  if (a.mask.ndim() > 0) {
    if (a.mask_dtype == kBool) {  // nothing counts in the first row
      std::vector<char> counts(static_cast<size_t>(a.mask.Size()));
      for (int64_t i = a.mask[2]; i < a.mask.Size(); ++i) counts[static_cast<size_t>(i)] = i % 3 != 1;
      c.given[static_cast<int>(c.shapes.size())] = counts;
    }
    c.shapes.push_back(a.mask), c.dtypes.push_back(a.mask_dtype);
  }
  if (a.lengths) {  // also of nothing, and of more than there is
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < a.batch * a.heads * a.lengths; ++i) lengths.push_back(static_cast<int32_t>((i * 5 + 3) % (a.columns + 3)) - 1);
    c.given[static_cast<int>(c.shapes.size())] = Bytes(lengths);
    c.shapes.push_back({a.batch * a.heads, a.lengths}), c.dtypes.push_back(kInt32);
  }
  if (a.dropout > 0) {  // as _draw_counters gives them, beyond 32 bits
    const int64_t first = (int64_t{1} << 32) - 2;
    c.given[static_cast<int>(c.shapes.size())] = Bytes(std::vector<int64_t>{int64_t{0x123456789abcdef}, first, first, 0});
    c.shapes.push_back({4}), c.dtypes.push_back(kInt64);
  }
  return c;
}
// Of the same inputs; `kept` is what the forward pass gave.
Case Backward(const Attention& a, const Result& kept) {
  const Case forward = Forward(a, kept.bytes.size() > 1);
  Case c = forward;
  c.op = "_backward_fused_attention";
  c.shapes.insert(c.shapes.begin(), kept.shapes[0]);
  c.dtypes.insert(c.dtypes.begin(), a.dtype);
  for (size_t i = 0; i < forward.shapes.size(); ++i) c.given[static_cast<int>(i) + 1] = kept.inputs[i];
  for (size_t i = 0; kept.bytes.size() > 1 && i < 2; ++i) {
    c.given[static_cast<int>(c.shapes.size())] = kept.bytes[i];
    c.shapes.push_back(kept.shapes[i]);
    c.dtypes.push_back(kept.dtypes[i]);
  }
  return c;
}

class AttentionKernels : public DeviceKernels {
 protected:
  /* As Check, for what may need no kernel of ours; outputs that only GPUs write are not compared.
   * What the GPU will have given. */
  std::shared_ptr<Result> CheckLibrary(const Case& c, double scale) {
    auto want = std::make_shared<Result>(RunKernel(c, DeviceType::kCPU)), got = std::make_shared<Result>();
    Later(
        Name(c), 0, [c, got] { *got = RunKernel(c, DeviceType::kGPU); },
        [c, want, got, scale] {
          for (size_t i = 0; i < (c.op[1] == 'f' ? 1 : want->bytes.size()); ++i)
            ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i], scale);
        });
    return got;
  }
  FakeGemmLibrary products_;
};

std::vector<Attention> Various() {
  std::vector<Attention> all;
  for (int dtype : kTypes) {
    Attention a;
    a.dtype = dtype;
    all.push_back(a);
    a.mask = Shape{6, 5, 7};
    all.push_back(a);
    a.mask = Shape{6, 1, 7}, a.mask_dtype = dtype;
    all.push_back(a);
    a.mask = Shape{1, 5, 1}, a.heads = 1, a.batch = 4, a.mask_dtype = kFloat32;
    all.push_back(a);
    a.mask = Shape{}, a.heads = 2, a.batch = 5;
    all.push_back(a);
    for (const char* layout : {"separate", "selfatt", "encdec"}) {
      Attention b;
      b.dtype = dtype, b.layout = layout;
      if (b.layout != "separate") b.value_width = b.width;
      if (b.layout == "selfatt") b.columns = b.rows;
      if (b.layout != "separate") all.push_back(b);
      for (int64_t lengths : {int64_t{1}, b.rows}) {
        b.lengths = lengths;
        all.push_back(b);
      }
      b.mask = Shape{1, 1, b.columns};
      all.push_back(b);
      b.mask = Shape{6, b.rows, b.columns}, b.lengths = 1, b.mask_dtype = dtype;
      all.push_back(b);
      b.lengths = 0, b.mask_dtype = kBool;
      all.push_back(b);
      b.mask = Shape{6, 1, b.columns}, b.heads = 1, b.batch = 6;
      all.push_back(b);
      b.mask = Shape{}, b.dropout = 0.3f;
      all.push_back(b);
      b.heads = 3, b.batch = 2, b.lengths = b.rows;
      all.push_back(b);
    }
  }
  return all;
}

// Weights and their gradients pass through 16-bit arrays, and so do sums of up to seven terms of
// size 2.
TEST_F(AttentionKernels, InParts) {
  FakeAttentionLibrary library;
  FakeAttentionLibrary::refuse() = [](const AttentionProblem&) { return true; };
  for (const Attention& a : Various()) {
    const Case c = Forward(a, false);
    Check(c, 4);
    Check(Backward(a, RunKernel(c, DeviceType::kCPU)), 8);
  }
  Attention none;
  none.columns = 0;
  CheckLibrary(Forward(none, false), 1);
  CheckLibrary(Backward(none, RunKernel(Forward(none, false), DeviceType::kCPU)), 1);
  RunNow();
}

TEST_F(AttentionKernels, InOneKernel) {
  FakeAttentionLibrary library;
  std::vector<Attention> all = Various();
  all.erase(std::remove_if(all.begin(), all.end(), [](const Attention& a) { return a.dtype == kFloat32; }), all.end());
  std::vector<std::shared_ptr<Result>> kept;
  for (const Attention& a : all) kept.push_back(CheckLibrary(Forward(a, true), 2));
  RunNow();
  ASSERT_EQ(FakeAttentionLibrary::run().size(), 2 * all.size());  // looking for kernels runs them, too
  for (size_t i = 0; i < all.size(); ++i) {
    const Attention& a = all[i];
    const AttentionProblem& p = FakeAttentionLibrary::run()[all.size() + i];
    SCOPED_TRACE(p.Text());
    EXPECT_TRUE(p.statistics && !p.backward);
    EXPECT_EQ(std::vector<int64_t>({p.batch, p.heads, p.rows, p.columns, p.width, p.value_width}),
              std::vector<int64_t>({a.batch, a.heads, a.rows, a.columns, a.width, a.value_width}));
    EXPECT_EQ(p.key.row, a.heads * a.width * (a.layout == "selfatt" ? 3 * a.batch : a.layout == "encdec" ? 2 * a.batch : 1));
    EXPECT_EQ(p.mask, a.mask.ndim() > 0 || a.lengths > 0);
    EXPECT_EQ(p.mask_dims[0] * p.mask_dims[1], a.lengths ? a.batch * a.heads : a.mask.ndim() > 0 ? a.mask[0] : 1);
    EXPECT_EQ(p.mask_dims[2], std::max(a.lengths, a.mask.ndim() > 0 ? a.mask[1] : 1));
    EXPECT_EQ(p.alignment, 16);
    CheckLibrary(Forward(a, false), 2);
    CheckLibrary(Backward(a, *kept[i]), 4);
  }
  RunNow();
  EXPECT_EQ(FakeAttentionLibrary::run().size(), 6 * all.size());
  EXPECT_EQ(FakeGemmLibrary::multiplied(), 0);
}

// Where the library has no backward pass, the forward pass does without it too: nobody reads
// statistics that were not written.
TEST_F(AttentionKernels, WithoutABackwardPassBothAreInParts) {
  FakeAttentionLibrary library;
  FakeAttentionLibrary::refuse() = [](const AttentionProblem& p) { return p.backward; };
  const Attention a;
  Check(Forward(a, true), 4);
  Check(Backward(a, RunKernel(Forward(a, true), DeviceType::kCPU)), 8);
  RunNow();
  EXPECT_TRUE(FakeAttentionLibrary::run().empty());
  CheckLibrary(Forward(a, false), 2);  // alone it may be
  RunNow();
  EXPECT_EQ(FakeAttentionLibrary::run().size(), 2u);
  FakeAttentionLibrary::refuse() = [](const AttentionProblem& p) { return p.statistics; };
  gpu_library::ForgetAttention();
  Check(Backward(a, RunKernel(Forward(a, true), DeviceType::kCPU)), 8);
  RunNow();
  EXPECT_EQ(FakeAttentionLibrary::run().size(), 2u);
}

// Engines drop otherwise than products around a softmax: where gradients lie worse than the forward
// pass's arrays, the backward pass still asks the engine.
TEST_F(AttentionKernels, TheBackwardPassTakesTheForwardPassesWay) {
  FakeAttentionLibrary library;
  FakeAttentionLibrary::refuse() = [](const AttentionProblem& p) { return p.alignment < 16; };
  Attention a;
  a.dropout = 0.5f;
  const auto kept = CheckLibrary(Forward(a, true), 2);
  RunNow();
  Case backward = Backward(a, *kept);
  const int inputs = static_cast<int>(backward.shapes.size());
  for (const std::set<int>& shifted : {std::set<int>{0}, {inputs, inputs + 1}, {0, inputs + 2}}) {
    backward.shifted = shifted;
    CheckLibrary(backward, 4);
  }
  RunNow();
  EXPECT_EQ(FakeAttentionLibrary::run().size(), 8u);
  EXPECT_EQ(FakeGemmLibrary::multiplied(), 0);
}

TEST(AttentionChoice, IsRememberedAndFollowsSettings) {
  FakeAttentionLibrary library;
  RunContext run;
  run.ctx = Context::GPU(0);
  AttentionProblem p;
  p.batch = 2, p.heads = 3, p.rows = p.columns = 64, p.width = p.value_width = 64;
  p.LieSeparately();
  p.statistics = true;
  const auto engine = gpu_library::ChooseAttention(p, Env::Get(), run);
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->engine, 2);
  EXPECT_EQ(FakeAttentionLibrary::asked(), 2);  // forward and backward
  EXPECT_EQ(gpu_library::ChooseAttention(p, Env::Get(), run), engine);
  EXPECT_EQ(FakeAttentionLibrary::asked(), 2);
  AttentionProblem other = p;
  for (auto change : {+[](AttentionProblem& q) { q.alignment = 8; }, +[](AttentionProblem& q) { q.mask = true; },
                      +[](AttentionProblem& q) { q.columns = 63; }, +[](AttentionProblem& q) { q.device = 1; },
                      +[](AttentionProblem& q) { q.dropout = 0.1f; }, +[](AttentionProblem& q) { q.key.row *= 3; }}) {
    other = p;
    change(other);
    const int before = FakeAttentionLibrary::asked();
    EXPECT_NE(gpu_library::ChooseAttention(other, Env::Get(), run), nullptr);
    EXPECT_EQ(FakeAttentionLibrary::asked(), before + 2);
  }
  other = p;
  other.dtype = kFloat32;
  EXPECT_EQ(gpu_library::ChooseAttention(other, Env::Get(), run), nullptr);
  Env env = Env::Get();
  env.cuda_allow_tensor_core = false;
  EXPECT_EQ(gpu_library::ChooseAttention(p, env, run), nullptr);
  env = Env::Get();
  env.enforce_determinism = true;
  EXPECT_EQ(gpu_library::ChooseAttention(p, env, run), nullptr);  // its backward pass adds in any order
  p.statistics = false;
  EXPECT_NE(gpu_library::ChooseAttention(p, env, run), nullptr);
}

}  // namespace
}  // namespace mxnet
