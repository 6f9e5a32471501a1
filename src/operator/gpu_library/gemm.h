/*
 * Matrix products on a GPU: c = post(alpha * op(a) * op(b) + addend + bias), row-major, in batches.
 *
 * This part decides (arithmetic, what the vendor's library does in its epilogue, which choice is
 * remembered) and has no CUDA types; a GemmLibrary computes. gemm_cuda.cc sets cuBLASLt; tests set
 * one that computes on the host.
 */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_GEMM_H_
#define MXNET_OPERATOR_GPU_LIBRARY_GEMM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mxnet/run_context.h"
#include "operator/gpu_library/epilogue.h"

namespace mxnet {

struct Env;
namespace gpu_library {

/* op(a) is m x k, op(b) k x n. Rows lie ld elements apart, matrices of a batch step elements. */
struct Gemm {
  int dtype = kFloat32;
  int result = -1;  // dtype of c and its addend; -1: that of the factors. Else kFloat32 for 16-bit factors
  bool trans_a = false, trans_b = false;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;           // 0: without gaps
  int64_t step_a = 0, step_b = 0, step_c = 0;  // 0: without gaps
  double alpha = 1;
  int result_dtype() const { return result < 0 ? dtype : result; }
};

/* How products are computed. Pedantic: no tensor cores. */
enum class Arithmetic : int { kFloat, kFloatPedantic, kTensorFloat, kDouble, kDoublePedantic, kHalf, kHalfPedantic };
/*
 * float32: float, or TensorFloat32 with MXNET_CUDA_ALLOW_TENSOR_CORE=1 and
 * MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION=1. 16-bit types are accumulated in float; float16 in
 * float16 with MXNET_FC_TRUE_FP16=1. Without MXNET_CUDA_ALLOW_TENSOR_CORE the pedantic forms.
 */
Arithmetic ArithmeticOf(int dtype, const Env& env);

/* Bits: how parts of one sum may be put together (values of cublasLtReductionScheme_t). */
enum ReductionSchemes : int { kInPlace = 1, kInComputeType = 2, kInOutputType = 4 };
/* In the output's type only where that is as wide as the accumulator; in place not with
 * MXNET_ENFORCE_DETERMINISM=1. */
int AllowedReductions(int dtype, Arithmetic arithmetic, const Env& env);

/* All that a library's choice depends on. */
struct GemmProblem {
  Gemm gemm;  // no zeros in ld and step
  Arithmetic arithmetic = Arithmetic::kFloat;
  int reductions = 0;                               // ReductionSchemes
  bool addend = false, bias = false, relu = false;  // what its epilogue does
  bool sums = false;                                // and the sums of op(a) over k, m numbers of the product's type; not with bias or relu
  int alignment[5] = {1, 1, 1, 1, 1};               // bytes, powers of two up to 256: a, b, addend, c, bias or sums
  int device = 0;
  std::string CacheKey() const;
};
struct GemmOperands {
  const void *a = nullptr, *b = nullptr, *addend = nullptr, *bias = nullptr;  // the addend lies as c does and may be c
  void *c = nullptr, *sums = nullptr;
};
struct GemmAlgorithm {
  bool refused = false;  // the library does not take the problem
  uint64_t data[8] = {};
  size_t workspace = 0;
  std::shared_ptr<void> prepared;  // of the calling thread
};

/* A part of the GPU's interface (base/device/device_interface.h). */
struct GemmLibrary {
  /* The best by its heuristics within `workspace_limit` bytes, or `refused`. Safe from several
   * threads. */
  GemmAlgorithm (*choose)(const GemmProblem& problem, size_t workspace_limit, const RunContext& run);
  /* Puts the product on run.stream. */
  void (*multiply)(const GemmProblem& problem, const GemmAlgorithm& algorithm, const GemmOperands& operands, void* workspace,
                   const RunContext& run);
  /* What `multiply` has for the problem from call to call, as `algorithm.prepared`: one thread's.
   * Null: nothing. */
  std::shared_ptr<void> (*prepare)(const GemmProblem& problem, const GemmAlgorithm& algorithm) = nullptr;
};
/* Drops what was chosen so far; for tests, which call it after they have put another library in
 * place. */
void ForgetGemms();
size_t RememberedGemms();

constexpr size_t kGemmWorkspace = size_t{32} << 20;  // what cuBLAS recommends for Hopper

/*
 * c = tail(alpha * op(a) * op(b)), rows of c being the tail's rows and its columns the channels;
 * the addend may be c itself. Any size may be 0. With gaps between rows of c, or a batch with gaps,
 * only an addend may follow. Throws Error(kGeneric) without a library.
 */
void Multiply(const RunContext& run, const std::function<void*(size_t)>& workspace, const Gemm& gemm, const void* a, const void* b, void* c,
              const Epilogue& tail = {});
/* c = op(a) * op(b) + addend; returns whether the library has put sums[i] = sum over k of op(a)(i,
 * k) there too, m numbers of the product's type. */
bool MultiplyAndSum(const RunContext& run, const std::function<void*(size_t)>& workspace, const Gemm& gemm, const void* a, const void* b,
                    void* c, const void* addend, void* sums);

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_GEMM_H_
