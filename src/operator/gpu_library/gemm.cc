#include "operator/gpu_library/gemm.h"

#include <algorithm>
#include <atomic>

#include "base/device/device_interface.h"
#include "base/dtype.h"
#include "mxnet/env.h"
#include "operator/gpu_library/bounded_cache.h"
#include "operator/gpu_library/recent.h"
#include "operator/matrix/move.h"

namespace mxnet {
namespace gpu_library {
namespace {

BoundedCache<GemmAlgorithm>& g_chosen = *new BoundedCache<GemmAlgorithm>(4096);
std::atomic<uint64_t> g_generation{1};
thread_local Recent<GemmAlgorithm> tls_ready;  // prepared

int AlignmentOf(const void* p) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(p);
  int bytes = 256;
  while (at % static_cast<uintptr_t>(bytes)) bytes /= 2;
  return bytes;
}

}  // namespace

Arithmetic ArithmeticOf(int dtype, const Env& env) {
  const bool tensor = env.cuda_allow_tensor_core;
  switch (dtype) {
    case kFloat32: return tensor && env.cuda_tensor_op_math_allow_conversion ? Arithmetic::kTensorFloat : Arithmetic::kFloat;
    case kFloat64: return tensor ? Arithmetic::kDouble : Arithmetic::kDoublePedantic;
    case kFloat16:
      if (env.fc_true_fp16) return tensor ? Arithmetic::kHalf : Arithmetic::kHalfPedantic;
      return tensor ? Arithmetic::kFloat : Arithmetic::kFloatPedantic;
    case kBfloat16: return tensor ? Arithmetic::kFloat : Arithmetic::kFloatPedantic;
    default: ThrowDType(dtype, "matmul", "float32, float64, float16, bfloat16");
  }
}

int AllowedReductions(int dtype, Arithmetic arithmetic, const Env& env) {
  const bool half = IsHalf(dtype);
  const bool narrow = half && arithmetic != Arithmetic::kHalf && arithmetic != Arithmetic::kHalfPedantic;
  int schemes = kInComputeType;
  if (!narrow) schemes |= kInOutputType;
  if (!narrow && !env.enforce_determinism) schemes |= kInPlace;  // in place: in the output's memory, in the order in which blocks end
  return schemes;
}

std::string GemmProblem::CacheKey() const {
  const Gemm& p = gemm;
  int64_t alpha;
  std::copy_n(reinterpret_cast<const char*>(&p.alpha), sizeof alpha, reinterpret_cast<char*>(&alpha));
  Key key;
  key.Add(p.dtype)
      .Add(p.result_dtype())
      .Add(p.trans_a)
      .Add(p.trans_b)
      .Add(p.batch)
      .Add(p.m)
      .Add(p.n)
      .Add(p.k)
      .Add(p.lda)
      .Add(p.ldb)
      .Add(p.ldc)
      .Add(p.step_a)
      .Add(p.step_b)
      .Add(p.step_c);
  key.Add(alpha).Add(static_cast<int>(arithmetic)).Add(reductions).Add(addend).Add(bias).Add(relu).Add(sums).Add(device);
  for (int a : alignment) key.Add(a);
  return key.Take();
}

void ForgetGemms() {
  g_chosen.Clear();
  g_generation.fetch_add(1, std::memory_order_release);
}
size_t RememberedGemms() { return g_chosen.size(); }

namespace {

// What the library is asked to do behind the gemm, each only where it may be asked at all.
struct Wishes {
  bool bias = false, relu = false, sums = false;
};

const GemmAlgorithm& AlgorithmFor(const GemmLibrary* library, const GemmProblem& problem, const RunContext& run) {
  const uint64_t generation = g_generation.load(std::memory_order_acquire);
  std::string key = problem.CacheKey();
  if (const GemmAlgorithm* ready = tls_ready.Find(key, generation)) return *ready;
  GemmAlgorithm algorithm;
  if (!g_chosen.Find(key, &algorithm)) {
    algorithm = library->choose(problem, kGemmWorkspace, run);
    g_chosen.Put(key, algorithm);
  }
  if (library->prepare && !algorithm.refused) algorithm.prepared = library->prepare(problem, algorithm);
  return *tls_ready.Put(std::move(key), generation, std::move(algorithm));
}

// The product and its addend; `wishes` is what was done beside them.
void RunGemm(const RunContext& run, const std::function<void*(size_t)>& workspace, const Gemm& p, const void* a, const void* b, void* c,
             const Epilogue& epilogue, void* sums, Wishes* wishes) {
  const GemmLibrary* library = GpuInterface().gemm.get();
  MXNET_CHECK(library) << "[matmul] on " << run.ctx << ": this build has no matrix library for GPUs; accepted: cpu contexts";
  const Env& env = Env::Get();
  GemmProblem problem;
  problem.gemm = p;
  problem.arithmetic = ArithmeticOf(p.dtype, env);
  if (p.result_dtype() != p.dtype)
    problem.arithmetic =
        env.cuda_allow_tensor_core ? Arithmetic::kFloat : Arithmetic::kFloatPedantic;  // whatever float16 alone is added in
  problem.reductions = AllowedReductions(p.result_dtype(), problem.arithmetic, env);
  problem.addend = epilogue.addend != nullptr;
  problem.device = run.ctx.dev_id;
  GemmOperands operands;
  operands.a = a, operands.b = b, operands.c = c, operands.addend = epilogue.addend;
  for (;;) {
    problem.bias = wishes->bias, problem.relu = wishes->relu, problem.sums = wishes->sums;
    operands.bias = wishes->bias ? epilogue.bias : nullptr;
    operands.sums = wishes->sums ? sums : nullptr;
    const void* pointers[5] = {a, b, operands.addend ? operands.addend : c, c, wishes->sums ? sums : operands.bias};
    for (int i = 0; i < 5; ++i) problem.alignment[i] = pointers[i] ? AlignmentOf(pointers[i]) : 256;
    const GemmAlgorithm& algorithm = AlgorithmFor(library, problem, run);
    if (!algorithm.refused)
      return library->multiply(problem, algorithm, operands, algorithm.workspace ? workspace(algorithm.workspace) : nullptr, run);
    MXNET_CHECK(wishes->bias || wishes->relu || wishes->sums)
        << "[matmul] cuBLASLt has no algorithm for " << p.batch << " products of " << p.m << " x " << p.k << " and " << p.k << " x " << p.n
        << " of " << DTypeName(p.dtype) << " (rows " << p.lda << ", " << p.ldb << ", " << p.ldc << " apart, addresses aligned to "
        << problem.alignment[0] << ", " << problem.alignment[1] << ", " << problem.alignment[3] << " bytes)";
    *wishes = Wishes();  // the product alone, then
  }
}

Gemm WithoutZeros(Gemm p) {
  if (!p.lda) p.lda = p.trans_a ? p.m : p.k;
  if (!p.ldb) p.ldb = p.trans_b ? p.k : p.n;
  if (!p.ldc) p.ldc = p.n;
  if (!p.step_a) p.step_a = p.m * p.k;
  if (!p.step_b) p.step_b = p.k * p.n;
  if (!p.step_c) p.step_c = p.m * p.n;
  return p;
}

// Epilogues exist for single products in every type but double; of mixed types none is asked for.
bool HasEpilogues(const Gemm& p) { return p.batch == 1 && p.dtype != kFloat64 && p.result_dtype() == p.dtype; }

}  // namespace

void Multiply(const RunContext& run, const std::function<void*(size_t)>& workspace, const Gemm& given, const void* a, const void* b,
              void* c, const Epilogue& epilogue) {
  if (given.batch * given.m * given.n == 0) return;
  const Gemm p = WithoutZeros(given);
  const bool dense = p.ldc == p.n && (p.batch == 1 || p.step_c == p.m * p.n);
  MXNET_CHECK(dense || !(epilogue.bias || epilogue.post)) << "[matmul] a bias or an activation behind a result with gaps";
  Epilogue rest = epilogue;  // what is left for a kernel of ours
  rest.addend = nullptr;
  if (p.k == 0) {
    MXNET_CHECK(dense) << "[matmul] an empty sum into a result with gaps";
    const int64_t bytes = p.batch * p.m * p.n * static_cast<int64_t>(DTypeSize(p.result_dtype()));
    if (!epilogue.addend)
      ZeroBytes(run, c, bytes);
    else if (epilogue.addend != c)
      CopyBytes(run, epilogue.addend, c, bytes);
    return ApplyEpilogue(run, c, p.result_dtype(), p.batch * p.m, p.n, 1, rest);
  }
  // A bias must be of the result's type and lie as the library's vector loads want it. What follows
  // a part that is ours is ours too.
  Wishes wishes;
  wishes.bias = HasEpilogues(p) && epilogue.bias && epilogue.bias_dtype == p.result_dtype() && AlignmentOf(epilogue.bias) >= 16;
  wishes.relu = HasEpilogues(p) && epilogue.post.kind == nn::EpilogueKind::kRelu && (wishes.bias || !epilogue.bias);
  RunGemm(run, workspace, p, a, b, c, epilogue, nullptr, &wishes);
  if (wishes.bias) rest.bias = nullptr;
  if (wishes.relu) rest.post = nn::EpilogueOp();
  ApplyEpilogue(run, c, p.result_dtype(), p.batch * p.m, p.n, 1, rest);
}

bool MultiplyAndSum(const RunContext& run, const std::function<void*(size_t)>& workspace, const Gemm& given, const void* a, const void* b,
                    void* c, const void* addend, void* sums) {
  Epilogue epilogue;
  epilogue.addend = addend;
  const Gemm p = WithoutZeros(given);
  if (!HasEpilogues(p) || p.m * p.n * p.k == 0 || AlignmentOf(sums) < 16) {
    Multiply(run, workspace, given, a, b, c, epilogue);
    return false;
  }
  Wishes wishes;
  wishes.sums = true;
  RunGemm(run, workspace, p, a, b, c, epilogue, sums, &wishes);
  return wishes.sums;
}

}  // namespace gpu_library
}  // namespace mxnet
