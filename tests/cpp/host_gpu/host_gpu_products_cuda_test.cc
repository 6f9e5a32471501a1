/* cuBLASLt of the GPU made of the host (tests/host_gpu) by its C functions, against plain loops
 * over column-major matrices. */
#include <cublasLt.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/half.h"
#include "host_gpu_functions_cuda.h"

namespace {

using host_gpu_test::OnDevice;
using host_gpu_test::Random;
using host_gpu_test::StandIn;

struct Lt {
  HOST_GPU_FUNCTION(cublasLtCreate);
  HOST_GPU_FUNCTION(cublasLtMatmul);
  HOST_GPU_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  HOST_GPU_FUNCTION(cublasLtMatmulDescCreate);
  HOST_GPU_FUNCTION(cublasLtMatmulDescDestroy);
  HOST_GPU_FUNCTION(cublasLtMatmulDescSetAttribute);
  HOST_GPU_FUNCTION(cublasLtMatmulPreferenceCreate);
  HOST_GPU_FUNCTION(cublasLtMatmulPreferenceDestroy);
  HOST_GPU_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
  HOST_GPU_FUNCTION(cublasLtMatrixLayoutCreate);
  HOST_GPU_FUNCTION(cublasLtMatrixLayoutDestroy);
  HOST_GPU_FUNCTION(cublasLtMatrixLayoutSetAttribute);
  cublasLtHandle_t handle = nullptr;
  Lt() { EXPECT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS); }
};
const Lt& Library() {
  static const Lt lt;
  return lt;
}

struct Matrix {
  uint64_t rows, cols;
  int64_t ld;
  cudaDataType type = CUDA_R_32F;
  int32_t batch = 1;
  int64_t step = 0;
};
struct Call {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  bool trans_a = false, trans_b = false;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;
  Matrix a, b, c, d;
  uint64_t workspace = 0;
  uint32_t alignment = 16;
};

// The descriptors of a call, and what the heuristics name for it.
class Described {
 public:
  explicit Described(const Call& c) {
    const Lt& lt = Library();
    EXPECT_EQ(lt.cublasLtMatmulDescCreate(&desc_, c.compute, c.scale), CUBLAS_STATUS_SUCCESS);
    Set(CUBLASLT_MATMUL_DESC_TRANSA, c.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(CUBLASLT_MATMUL_DESC_TRANSB, c.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(CUBLASLT_MATMUL_DESC_EPILOGUE, c.epilogue);
    Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, c.vector);
    const Matrix* const matrices[4] = {&c.a, &c.b, &c.c, &c.d};
    for (int i = 0; i < 4; ++i) {
      const Matrix& m = *matrices[i];
      EXPECT_EQ(lt.cublasLtMatrixLayoutCreate(&layouts_[i], m.type, m.rows, m.cols, m.ld), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(lt.cublasLtMatrixLayoutSetAttribute(layouts_[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &m.batch, sizeof m.batch),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(lt.cublasLtMatrixLayoutSetAttribute(layouts_[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.step, sizeof m.step),
                CUBLAS_STATUS_SUCCESS);
    }
    cublasLtMatmulPreference_t preference = nullptr;
    EXPECT_EQ(lt.cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        lt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &c.workspace, sizeof c.workspace),
        CUBLAS_STATUS_SUCCESS);
    for (int attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      EXPECT_EQ(lt.cublasLtMatmulPreferenceSetAttribute(preference, static_cast<cublasLtMatmulPreferenceAttributes_t>(attribute),
                                                        &c.alignment, sizeof c.alignment),
                CUBLAS_STATUS_SUCCESS);
    status = lt.cublasLtMatmulAlgoGetHeuristic(lt.handle, desc_, layouts_[0], layouts_[1], layouts_[2], layouts_[3], preference, 4, results,
                                               &count);
    lt.cublasLtMatmulPreferenceDestroy(preference);
  }
  ~Described() {
    Library().cublasLtMatmulDescDestroy(desc_);
    for (cublasLtMatrixLayout_t l : layouts_) Library().cublasLtMatrixLayoutDestroy(l);
  }
  cublasStatus_t Run(int algorithm, const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* d,
                     void* workspace, size_t bytes) const {
    const Lt& lt = Library();
    return lt.cublasLtMatmul(lt.handle, desc_, alpha, a, layouts_[0], b, layouts_[1], beta, c, layouts_[2], d, layouts_[3],
                             &results[algorithm].algo, workspace, bytes, nullptr);
  }
  cublasStatus_t status;
  int count = 0;
  cublasLtMatmulHeuristicResult_t results[4] = {};

 private:
  template <typename T>
  void Set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    EXPECT_EQ(Library().cublasLtMatmulDescSetAttribute(desc_, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t layouts_[4] = {};
};

// Transpositions, gaps between columns, batches, an addend that lies otherwise, epilogues: all in
// one product of small numbers.
TEST(HostGpuCublasLt, ProductsAsLoops) {
  const int64_t m = 5, n = 4, k = 6, batch = 3;
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (uint32_t epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                                CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
        const bool sums = epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
        const int32_t items = sums ? 1 : static_cast<int32_t>(batch);
        const int64_t lda = (ta ? k : m) + 1, ldb = (tb ? n : k) + 2, ldc = m + 3, ldd = m, step_a = lda * (ta ? m : k) + 1,
                      step_b = ldb * (tb ? k : n), step_c = ldc * n, step_d = ldd * n + 2;
        const std::vector<float> a = Random(static_cast<size_t>(step_a * batch), 1), b = Random(static_cast<size_t>(step_b * batch), 2),
                                 c = Random(static_cast<size_t>(step_c * batch), 3), v = Random(8, 4);
        const OnDevice<float> on_a(a), on_b(b), on_c(c), on_d(std::vector<float>(static_cast<size_t>(step_d * batch), -7)), vector(v);
        Call call;
        call.trans_a = ta, call.trans_b = tb, call.epilogue = epilogue, call.vector = vector.get(), call.workspace = 1 << 20;
        call.a = {static_cast<uint64_t>(ta ? k : m), static_cast<uint64_t>(ta ? m : k), lda, CUDA_R_32F, items, step_a};
        call.b = {static_cast<uint64_t>(tb ? n : k), static_cast<uint64_t>(tb ? k : n), ldb, CUDA_R_32F, items, step_b};
        call.c = {static_cast<uint64_t>(m), static_cast<uint64_t>(n), ldc, CUDA_R_32F, items, step_c};
        call.d = {static_cast<uint64_t>(m), static_cast<uint64_t>(n), ldd, CUDA_R_32F, items, step_d};
        const Described described(call);
        ASSERT_EQ(described.status, CUBLAS_STATUS_SUCCESS);
        ASSERT_GT(described.count, 0);
        const float alpha = 2, beta = 0.5f;
        ASSERT_EQ(described.Run(0, &alpha, on_a.get(), on_b.get(), &beta, on_c.get(), on_d.get(), nullptr, 0), CUBLAS_STATUS_SUCCESS);
        std::vector<float> want(static_cast<size_t>(step_d * batch), -7), total = v;
        for (int64_t t = 0; t < items; ++t)
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              float sum = 0;
              for (int64_t l = 0; l < k; ++l)
                sum += a[static_cast<size_t>(t * step_a + (ta ? i * lda + l : l * lda + i))] *
                       b[static_cast<size_t>(t * step_b + (tb ? l * ldb + j : j * ldb + l))];
              float r = alpha * sum + beta * c[static_cast<size_t>(t * step_c + j * ldc + i)];
              if (epilogue & CUBLASLT_EPILOGUE_BIAS) r += v[static_cast<size_t>(i)];
              if (epilogue & CUBLASLT_EPILOGUE_RELU) r = std::max(r, 0.f);
              want[static_cast<size_t>(t * step_d + j * ldd + i)] = r;
            }
        for (int64_t i = 0; sums && i < (epilogue == CUBLASLT_EPILOGUE_BGRADA ? m : n); ++i) {
          total[static_cast<size_t>(i)] = 0;
          for (int64_t l = 0; l < k; ++l)
            total[static_cast<size_t>(i)] += epilogue == CUBLASLT_EPILOGUE_BGRADA ? a[static_cast<size_t>(ta ? i * lda + l : l * lda + i)]
                                                                                  : b[static_cast<size_t>(tb ? l * ldb + i : i * ldb + l)];
        }
        EXPECT_EQ(on_d.Values(), want) << ta << tb << " epilogue " << epilogue;
        EXPECT_EQ(vector.Values(), total) << ta << tb << " epilogue " << epilogue;
      }
}

Call Square(cudaDataType in, cudaDataType out, cublasComputeType_t compute, cudaDataType scale) {
  Call c;
  c.a = c.b = {8, 8, 8, in}, c.c = c.d = {8, 8, 8, out};
  c.compute = compute, c.scale = scale, c.workspace = 4 << 20;
  return c;
}

TEST(HostGpuCublasLt, TakesTheTypesOfTheTable) {
  const struct {
    cudaDataType in, out;
    cublasComputeType_t compute;
    cudaDataType scale;
    bool taken;
  } cases[] = {{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, true},
               {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, true},
               {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, true},
               {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, true},
               {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, true},
               {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F, true},
               {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_32F, false},
               {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_16F, CUDA_R_16F, false},
               {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F, CUDA_R_16F, false},
               {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F, CUDA_R_32F, false},
               {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, false},
               {CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, false}};
  for (const auto& c : cases)
    EXPECT_EQ(Described(Square(c.in, c.out, c.compute, c.scale)).status == CUBLAS_STATUS_SUCCESS, c.taken)
        << c.in << " to " << c.out << ", compute " << c.compute << ", scale " << c.scale;
}

TEST(HostGpuCublasLt, RefusesWhatTheDocumentationForbids) {
  const Call good = Square(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  auto status = [&](const std::function<void(Call*)>& change) {
    Call c = good;
    change(&c);
    return Described(c).status;
  };
  EXPECT_EQ(status([](Call*) {}), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(status([](Call* c) { c->a.ld = 7; }), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(status([](Call* c) { c->b.rows = 7; }), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(status([](Call* c) { c->d.cols = 7; }), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(status([](Call* c) { c->a.batch = 2, c->a.step = 64; }), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(status([](Call* c) { c->a.batch = c->b.batch = c->c.batch = c->d.batch = 2; }),
            CUBLAS_STATUS_SUCCESS);  // results upon each other
  EXPECT_NE(status([](Call* c) { c->epilogue = 3; }), CUBLAS_STATUS_SUCCESS);

  const Lt& lt = Library();
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(lt.cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 8, 8, 8), CUBLAS_STATUS_SUCCESS);
  const int64_t wide = 8;
  EXPECT_EQ(lt.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &wide, sizeof wide),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, nullptr, sizeof wide), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt.cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_SUCCESS);

  const Described described(good);
  ASSERT_GT(described.count, 1);
  ASSERT_GT(described.results[0].workspaceSize, 0u);
  const size_t bytes = described.results[0].workspaceSize;
  const OnDevice<float> a(Random(128, 1)), b(Random(64, 2)), d(Random(64, 3));
  const OnDevice<char> workspace(std::vector<char>(bytes + 16));
  const float one = 1, zero = 0;
  auto run = [&](const void* first, void* result, void* workspace, size_t size) {
    return described.Run(0, &one, first, b.get(), &zero, result, result, workspace, size);
  };
  EXPECT_EQ(run(a.get(), d.get(), workspace.get(), bytes), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(run(a.get(), d.get(), workspace.get(), bytes - 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(run(a.get(), d.get(), nullptr, bytes), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(run(a.get(), d.get(), workspace.get() + 16, bytes), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(run(a.get() + 1, d.get(), workspace.get(), bytes), CUBLAS_STATUS_SUCCESS);   // not as aligned as the algorithm wants
  EXPECT_NE(run(a.get() + 68, d.get(), workspace.get(), bytes), CUBLAS_STATUS_SUCCESS);  // beyond its end
  EXPECT_NE(run(d.get(), d.get(), workspace.get(), bytes), CUBLAS_STATUS_SUCCESS);       // the result upon a factor
  EXPECT_NE(run(&one, d.get(), workspace.get(), bytes), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(host_gpu_test::Cuda().wait(), cudaSuccess);
}

}  // namespace
