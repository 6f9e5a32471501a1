/* Matrix products by cuBLASLt. It counts in columns: a row-major matrix is its transpose there, so
 * c^T = op(b)^T * op(a)^T is computed. */
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>

#include "base/device/device_interface.h"
#include "base/half.h"
#include "base/threads/collective_launch.h"
#include "mxnet/error.h"
#include "operator/gpu_library/gemm.h"
#include "operator/gpu_library/version.h"

namespace mxnet {
namespace gpu_library {
namespace {

void Check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  cudaGetLastError();
  MXNET_THROW(Generic) << "[matmul] cuBLASLt: " << what << " failed: " << cublasLtGetStatusString(status);
}

// A handle serves every thread of its device and stays: products are computed until the very end of
// the process.
constexpr int kMaxDevices = 32;
struct Handles {
  std::mutex mutex;  // a forked child has no GPU, so nobody waits for it there
  std::atomic<cublasLtHandle_t> of[kMaxDevices] = {};
};
Handles& g_handles = *new Handles();

cublasLtHandle_t HandleOf(int device) {
  MXNET_CHECK_KIND(device >= 0 && device < kMaxDevices, Value) << "[matmul] device " << device << "; accepted: 0 to " << kMaxDevices - 1;
  CheckLibraryVersions();
  cublasLtHandle_t handle = g_handles.of[device].load(std::memory_order_acquire);
  if (handle) return handle;
  std::lock_guard<std::mutex> lock(g_handles.mutex);
  handle = g_handles.of[device].load(std::memory_order_relaxed);
  if (handle) return handle;
  std::lock_guard<ForkMutex> launching(CollectiveLaunchMutex());
  Check(cublasLtCreate(&handle), "starting");  // for the current device, which the engine has set
  g_handles.of[device].store(handle, std::memory_order_release);
  return handle;
}

cudaDataType_t TypeOf(int dtype) {
  switch (dtype) {
    case kFloat32: return CUDA_R_32F;
    case kFloat64: return CUDA_R_64F;
    case kFloat16: return CUDA_R_16F;
    case kBfloat16: return CUDA_R_16BF;
    default:
      MXNET_THROW(Type) << "[matmul] dtype " << DTypeName(dtype) << "; accepted: float32, float64, float16, bfloat16";
      return CUDA_R_32F;
  }
}

struct Compute {
  cublasComputeType_t compute;
  cudaDataType_t scale;
};
Compute ComputeOf(Arithmetic a) {
  switch (a) {
    case Arithmetic::kFloat: return {CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case Arithmetic::kFloatPedantic: return {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F};
    case Arithmetic::kTensorFloat: return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
    case Arithmetic::kDouble: return {CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case Arithmetic::kDoublePedantic: return {CUBLAS_COMPUTE_64F_PEDANTIC, CUDA_R_64F};
    case Arithmetic::kHalf: return {CUBLAS_COMPUTE_16F, CUDA_R_16F};
    case Arithmetic::kHalfPedantic: return {CUBLAS_COMPUTE_16F_PEDANTIC, CUDA_R_16F};
  }
  return {CUBLAS_COMPUTE_32F, CUDA_R_32F};
}

// alpha and beta in the scale's type.
struct Scalar {
  alignas(8) char bytes[8] = {};
  Scalar(double value, cudaDataType_t type) {
    if (type == CUDA_R_64F)
      Write(value);
    else if (type == CUDA_R_32F)
      Write(static_cast<float>(value));
    else
      Write(float16(static_cast<float>(value)));
  }

 private:
  template <typename T>
  void Write(T v) {
    std::copy_n(reinterpret_cast<const char*>(&v), sizeof v, bytes);
  }
};

struct DestroyLayout {
  void operator()(cublasLtMatrixLayout_t p) const { cublasLtMatrixLayoutDestroy(p); }
};
struct DestroyDescription {
  void operator()(cublasLtMatmulDesc_t p) const { cublasLtMatmulDescDestroy(p); }
};
struct DestroyPreference {
  void operator()(cublasLtMatmulPreference_t p) const { cublasLtMatmulPreferenceDestroy(p); }
};
using Layout_ = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, DestroyLayout>;
using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, DestroyDescription>;
using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, DestroyPreference>;

// A row-major rows x columns matrix.
Layout_ MakeLayout(int dtype, int64_t rows, int64_t columns, int64_t ld, int64_t batch, int64_t step) {
  cublasLtMatrixLayout_t made = nullptr;
  Check(cublasLtMatrixLayoutCreate(&made, TypeOf(dtype), static_cast<uint64_t>(columns), static_cast<uint64_t>(rows), ld),
        "describing a matrix");
  Layout_ layout(made);
  if (batch > 1) {
    MXNET_CHECK_KIND(batch <= INT32_MAX, Value) << "[matmul] a batch of " << batch << " products; at most 2147483647";
    const int32_t count = static_cast<int32_t>(batch);
    Check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), "describing a batch");
    Check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step), "describing a batch");
  }
  return layout;
}

struct Described {
  Description description;
  Layout_ a, b, c;
  Compute compute;
};

// `vector`: the bias, or where sums go.
Described Describe(const GemmProblem& problem, const void* vector) {
  const Gemm& p = problem.gemm;
  Described d;
  d.compute = ComputeOf(problem.arithmetic);
  cublasLtMatmulDesc_t made = nullptr;
  Check(cublasLtMatmulDescCreate(&made, d.compute.compute, d.compute.scale), "describing a product");
  d.description.reset(made);
  auto set = [made](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    Check(cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value), "describing a product");
  };
  // its first factor is our b
  set(CUBLASLT_MATMUL_DESC_TRANSA, p.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, p.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (problem.bias || problem.relu) {
    const cublasLtEpilogue_t epilogue = problem.bias && problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                        : problem.bias               ? CUBLASLT_EPILOGUE_BIAS
                                                                     : CUBLASLT_EPILOGUE_RELU;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (problem.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  } else if (problem.sums) {  // its second factor is our a
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  }
  d.a = MakeLayout(p.dtype, p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, p.lda, p.batch, p.step_a);
  d.b = MakeLayout(p.dtype, p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, p.ldb, p.batch, p.step_b);
  d.c = MakeLayout(p.result_dtype(), p.m, p.n, p.ldc, p.batch, p.step_c);
  return d;
}

GemmAlgorithm Choose(const GemmProblem& problem, size_t workspace_limit, const RunContext& run) {
  // The heuristics look at whether there is a bias, not at where: any aligned address does.
  const Described d = Describe(problem, reinterpret_cast<const void*>(static_cast<uintptr_t>(problem.alignment[4])));
  cublasLtMatmulPreference_t made = nullptr;
  Check(cublasLtMatmulPreferenceCreate(&made), "describing what is wanted");
  const Preference preference(made);
  auto set = [made](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    Check(cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value), "describing what is wanted");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace_limit));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<uint32_t>(problem.reductions));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(problem.alignment[1]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(problem.alignment[0]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<uint32_t>(problem.alignment[2]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(problem.alignment[3]));
  cublasLtMatmulHeuristicResult_t results[8] = {};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(HandleOf(run.ctx.dev_id), d.description.get(), d.b.get(), d.a.get(),
                                                               d.c.get(), d.c.get(), made, 8, results, &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE) Check(status, "choosing an algorithm");
  GemmAlgorithm algorithm;
  for (int i = 0; i < found; ++i) {
    if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
    static_assert(sizeof algorithm.data == sizeof results[i].algo, "an algorithm is eight numbers");
    std::copy_n(results[i].algo.data, 8, algorithm.data);
    algorithm.workspace = results[i].workspaceSize;
    return algorithm;
  }
  algorithm.refused = true;
  return algorithm;
}

/* All that cublasLtMatmul is given but for addresses. */
struct Ready {
  Ready(const GemmProblem& problem, const GemmAlgorithm& chosen)
      : d(Describe(problem, nullptr)), alpha(problem.gemm.alpha, d.compute.scale), beta(problem.addend ? 1 : 0, d.compute.scale) {
    std::copy_n(chosen.data, 8, algorithm.data);
  }
  Described d;
  cublasLtMatmulAlgo_t algorithm;
  Scalar alpha, beta;
  const void* vector = nullptr;  // that the description names
};

std::shared_ptr<void> Prepare(const GemmProblem& problem, const GemmAlgorithm& chosen) { return std::make_shared<Ready>(problem, chosen); }

void RunGemm(const GemmProblem& problem, const GemmAlgorithm& chosen, const GemmOperands& o, void* workspace, const RunContext& run) {
  Ready& r = *static_cast<Ready*>(chosen.prepared.get());
  const void* vector = problem.sums ? o.sums : o.bias;
  if (vector != r.vector) {
    Check(cublasLtMatmulDescSetAttribute(r.d.description.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector),
          "describing a product");
    r.vector = vector;
  }
  Check(cublasLtMatmul(HandleOf(run.ctx.dev_id), r.d.description.get(), r.alpha.bytes, o.b, r.d.b.get(), o.a, r.d.a.get(), r.beta.bytes,
                       problem.addend ? o.addend : o.c, r.d.c.get(), o.c, r.d.c.get(), &r.algorithm, workspace, chosen.workspace,
                       static_cast<cudaStream_t>(run.stream)),
        "multiplying");
}

const GemmLibrary kCublas = {Choose, RunGemm, Prepare};
[[maybe_unused]] const bool registered = GpuInterface().gemm.Register(&kCublas);

}  // namespace
}  // namespace gpu_library
}  // namespace mxnet
