// cuBLASLt on the host, after its header and its documentation: column-major, layouts with leading
// dimensions and strided batches, the table of types that cublasLtMatmul takes, the epilogues RELU,
// BIAS, RELU_BIAS, BGRADA and BGRADB. What the documentation does not permit is refused and named.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "host_gpu.h"
#include "libraries.h"
#include "library_numbers.h"

namespace host_gpu {
namespace {

constexpr uint64_t kLayoutMagic = 0x6c74206c61796f75, kDescMagic = 0x6c74206d61746d75, kPreferenceMagic = 0x6c7420707265666,
                   kAlgoMagic = 0x6c7420616c676f;

struct Layout {
  uint64_t magic;
  uint32_t type;
  int32_t order;
  uint64_t rows, cols;
  int64_t ld;
  int32_t batch;
  uint32_t mode;
  int64_t step, plane;
};
struct Desc {
  uint64_t magic;
  int32_t compute, scale, pointer_mode, trans_a, trans_b, trans_c, fill;
  uint32_t epilogue;
  const void* bias;
  int64_t bias_step;
  int32_t bias_type, unused_number;
  int64_t unused[8];  // attributes that are kept and must stay as they are created
};
struct Preference {
  uint64_t magic, workspace;
  uint32_t search, schemes, alignment[4];
  uint64_t implementations;
  float waves;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t) && sizeof(Desc) <= sizeof(cublasLtMatmulDescOpaque_t) &&
                  sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t),
              "descriptors fit in what NVIDIA's header sets aside");

struct Algo {
  uint64_t magic, workspace, alignment[4], key, id;  // bytes that A, B, C and D must be aligned to
};
static_assert(sizeof(Algo) == sizeof(cublasLtMatmulAlgo_t), "an algorithm is eight numbers");

cublasStatus_t Refuse(cublasStatus_t status, const char* function, const std::string& why) {
  Complain(function, why.c_str());
  return status;
}
cublasStatus_t Invalid(const char* function, const std::string& why) { return Refuse(CUBLAS_STATUS_INVALID_VALUE, function, why); }

template <typename T, typename Opaque>
T* Known(Opaque* opaque, uint64_t magic) {
  T* t = reinterpret_cast<T*>(opaque);
  return t && t->magic == magic ? t : nullptr;
}
template <typename T, typename Opaque>
cublasStatus_t Destroy(Opaque* opaque, uint64_t magic, const char* function) {
  if (!opaque) return CUBLAS_STATUS_SUCCESS;
  T* t = Known<T>(opaque, magic);
  if (!t) return Invalid(function, "not a descriptor of this kind, or destroyed before");
  t->magic = 0;
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

// Where an attribute lies in a descriptor.
struct Field {
  int attribute;
  void* at;
  size_t bytes;
};
cublasStatus_t SetField(const std::vector<Field>& fields, int attribute, const void* value, size_t bytes, const char* function) {
  for (const Field& f : fields) {
    if (f.attribute != attribute) continue;
    if (!value || bytes != f.bytes)
      return Invalid(function,
                     "attribute " + std::to_string(attribute) +
                         (value ? " given as " + std::to_string(bytes) + " bytes; it has " + std::to_string(f.bytes) : " without a value"));
    std::memcpy(f.at, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  return Invalid(function, "attribute " + std::to_string(attribute) + " is unknown to the stand-in");
}

bool NumberOf(uint32_t type, Number* number) {
  switch (type) {
    case CUDA_R_32F: *number = Number::kFloat; return true;
    case CUDA_R_64F: *number = Number::kDouble; return true;
    case CUDA_R_16F: *number = Number::kHalf; return true;
    case CUDA_R_16BF: *number = Number::kBfloat16; return true;
    default: return false;
  }
}

// Whether the table of cublasLtMatmul's documentation has the combination (real floating-point
// types; integers and float8 are not in the stand-in).
bool TypesSupported(int32_t compute, uint32_t scale, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (a != b || c != d) return false;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return scale == CUDA_R_16F && a == CUDA_R_16F && c == CUDA_R_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return scale == CUDA_R_32F &&
             ((a == CUDA_R_32F && c == CUDA_R_32F) || ((a == CUDA_R_16F || a == CUDA_R_16BF) && (c == a || c == CUDA_R_32F)));
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return scale == CUDA_R_32F && a == CUDA_R_32F && c == CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return scale == CUDA_R_64F && a == CUDA_R_64F && c == CUDA_R_64F;
    default: return false;
  }
}

struct Problem {
  Desc how;
  Layout a, b, c, d;
  int64_t m, n, k;
  Number in, out;
  bool bias() const { return how.epilogue & CUBLASLT_EPILOGUE_BIAS; }
  bool relu() const { return how.epilogue & CUBLASLT_EPILOGUE_RELU; }
  bool sums() const { return how.epilogue == CUBLASLT_EPILOGUE_BGRADA || how.epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  uint64_t Key() const {
    uint64_t key = 1469598103934665603u;
    for (uint64_t v : {static_cast<uint64_t>(how.compute), static_cast<uint64_t>(how.scale), static_cast<uint64_t>(how.trans_a),
                       static_cast<uint64_t>(how.trans_b), static_cast<uint64_t>(how.epilogue), static_cast<uint64_t>(a.type),
                       static_cast<uint64_t>(c.type), static_cast<uint64_t>(m), static_cast<uint64_t>(n), static_cast<uint64_t>(k),
                       static_cast<uint64_t>(d.batch)})
      key = (key ^ v) * 1099511628211u;
    return key;
  }
};

// Elements from the first to behind the last.
int64_t Extent(const Layout& l) {
  const int64_t rows = static_cast<int64_t>(l.rows), cols = static_cast<int64_t>(l.cols);
  const int64_t one = l.order == CUBLASLT_ORDER_ROW ? (rows - 1) * l.ld + cols : (cols - 1) * l.ld + rows;
  return one + (l.batch - 1) * l.step;
}

cublasStatus_t CheckLayout(const Layout& l, const char* name, bool result, const char* function) {
  auto bad = [&](const std::string& why) { return Invalid(function, std::string("matrix ") + name + ": " + why); };
  if (l.order != CUBLASLT_ORDER_COL && l.order != CUBLASLT_ORDER_ROW)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, std::string("matrix ") + name + ": order " + std::to_string(l.order));
  if (!l.rows || !l.cols) return bad("no rows or no columns");
  if (l.rows > INT32_MAX || l.cols > INT32_MAX)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, std::string("matrix ") + name + ": more than 2147483647 rows or columns");
  const int64_t least = static_cast<int64_t>(l.order == CUBLASLT_ORDER_ROW ? l.cols : l.rows);
  const bool broadcast = l.ld == 0 && std::strcmp(name, "C") == 0;  // of one row or column, documented for C alone
  if (l.ld < least && !broadcast)
    return bad("leading dimension " + std::to_string(l.ld) + ", at least " + std::to_string(least) + " is needed");
  if (l.batch < 1) return bad("batch count " + std::to_string(l.batch));
  if (l.mode != CUBLASLT_BATCH_MODE_STRIDED || l.plane) return bad("a batch of pointers or planes, which the stand-in does not have");
  if (result && l.batch > 1) {
    Layout one = l;
    one.batch = 1;
    // matrices of a batch may lie between each other's columns, but not upon each other
    const int64_t step = std::abs(l.step);
    if (step < least || (step < Extent(one) && step % l.ld + least > l.ld && step % l.ld))
      return bad("matrices of the batch lie upon each other: stride " + std::to_string(l.step));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Describe(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                        cublasLtMatrixLayout_t d, const char* function, Problem* p) {
  const Desc* desc = Known<Desc>(how, kDescMagic);
  const Layout* layouts[4];
  int i = 0;
  for (cublasLtMatrixLayout_t l : {a, b, c ? c : d, d}) layouts[i++] = Known<Layout>(l, kLayoutMagic);
  if (!desc || !layouts[0] || !layouts[1] || !layouts[2] || !layouts[3])
    return Invalid(function, "a descriptor that is none, or was destroyed");
  *p = {*desc, *layouts[0], *layouts[1], *layouts[2], *layouts[3], 0, 0, 0, Number::kFloat, Number::kFloat};
  const Desc& h = p->how;
  static const char* const kNames[] = {"A", "B", "C", "D"};
  for (i = 0; i < 4; ++i) {
    const cublasStatus_t status = CheckLayout(*layouts[i], kNames[i], i == 3, function);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  for (int32_t t : {h.trans_a, h.trans_b})
    if (t != CUBLAS_OP_N && t != CUBLAS_OP_T && t != CUBLAS_OP_C) return Invalid(function, "transposition " + std::to_string(t));
  if (h.trans_c != CUBLAS_OP_N || h.fill != CUBLAS_FILL_MODE_FULL)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "C transposed, or not filled whole");
  if (h.pointer_mode != CUBLASLT_POINTER_MODE_HOST && h.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "a pointer mode that the stand-in does not have");
  for (int64_t v : h.unused)
    if (v) return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "an attribute of the product that the stand-in does not have");
  p->m = static_cast<int64_t>(h.trans_a == CUBLAS_OP_N ? p->a.rows : p->a.cols);
  p->k = static_cast<int64_t>(h.trans_a == CUBLAS_OP_N ? p->a.cols : p->a.rows);
  p->n = static_cast<int64_t>(h.trans_b == CUBLAS_OP_N ? p->b.cols : p->b.rows);
  const int64_t k = static_cast<int64_t>(h.trans_b == CUBLAS_OP_N ? p->b.rows : p->b.cols);
  if (k != p->k) return Invalid(function, "op(A) has " + std::to_string(p->k) + " columns, op(B) " + std::to_string(k) + " rows");
  for (i = 2; i < 4; ++i)
    if (static_cast<int64_t>(layouts[i]->rows) != p->m || static_cast<int64_t>(layouts[i]->cols) != p->n)
      return Invalid(function, std::string(kNames[i]) + " is " + std::to_string(layouts[i]->rows) + " x " +
                                   std::to_string(layouts[i]->cols) + ", op(A) op(B) " + std::to_string(p->m) + " x " +
                                   std::to_string(p->n));
  for (i = 0; i < 3; ++i)
    if (layouts[i]->batch != p->d.batch) return Invalid(function, std::string("batch counts of ") + kNames[i] + " and D differ");
  if (p->c.order != p->d.order) return Invalid(function, "C and D in different orders");
  if (!TypesSupported(h.compute, static_cast<uint32_t>(h.scale), p->a.type, p->b.type, p->c.type, p->d.type) ||
      !NumberOf(p->a.type, &p->in) || !NumberOf(p->d.type, &p->out))
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function,
                  "types not in the table: compute " + std::to_string(h.compute) + ", scale " + std::to_string(h.scale) + ", A " +
                      std::to_string(p->a.type) + ", B " + std::to_string(p->b.type) + ", C " + std::to_string(p->c.type) + ", D " +
                      std::to_string(p->d.type));
  switch (h.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: break;
    default: return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "epilogue " + std::to_string(h.epilogue));
  }
  if ((p->bias() || p->sums()) && h.bias_type != -1 && static_cast<uint32_t>(h.bias_type) != p->d.type)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function,
                  "a bias of type " + std::to_string(h.bias_type) + " for results of type " + std::to_string(p->d.type));
  if (p->sums() && p->d.batch > 1) return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "bias gradients of a batch");
  if (p->d.order == CUBLASLT_ORDER_ROW && h.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    return Refuse(CUBLAS_STATUS_NOT_SUPPORTED, function, "an epilogue behind a row-major result");
  return CUBLAS_STATUS_SUCCESS;
}

// HOST_GPU_CUBLASLT_REFUSE: epilogues that no algorithm takes.
bool Refused(const Problem& p) {
  return (p.bias() && Refuses("CUBLASLT", "bias")) || (p.relu() && Refuses("CUBLASLT", "relu")) ||
         (p.sums() && Refuses("CUBLASLT", "bgrad"));
}

// Algorithms in order: split sums with a workspace, and wide loads, for operands aligned to 16
// bytes; one that takes all.
std::vector<Algo> Algorithms(const Problem& p, const Preference& wanted) {
  std::vector<Algo> found;
  const Layout* layouts[4] = {&p.a, &p.b, &p.c, &p.d};
  for (uint64_t id = 1; id <= 3; ++id) {
    Algo algo = {kAlgoMagic, id == 1 ? uint64_t{1} << 20 : 0, {}, p.Key(), id};
    bool fits = algo.workspace <= wanted.workspace && (id > 1 || wanted.schemes & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    for (int i = 0; i < 4; ++i) {
      const int64_t size = static_cast<int64_t>(SizeOf(i < 2 ? p.in : p.out));
      algo.alignment[i] = id < 3 ? 16 : static_cast<uint64_t>(size);
      fits &= wanted.alignment[i] >= algo.alignment[i];
      if (id < 3) fits &= layouts[i]->ld * size % 16 == 0 && (layouts[i]->batch == 1 || layouts[i]->step * size % 16 == 0);
    }
    if (fits) found.push_back(algo);
  }
  return found;
}

template <typename T>
T OfInputs(const Problem& p, const void* array, int64_t index) {
  T v = Load<T>(p.in, array, index);
  if (p.how.compute == CUBLAS_COMPUTE_32F_FAST_TF32) v = static_cast<T>(ToTensorFloat(static_cast<float>(v)));
  if (p.how.compute == CUBLAS_COMPUTE_32F_FAST_16F) v = Rounded(Number::kHalf, v);
  if (p.how.compute == CUBLAS_COMPUTE_32F_FAST_16BF) v = Rounded(Number::kBfloat16, v);
  return v;
}
int64_t At(const Layout& l, int64_t row, int64_t column, int64_t item) {
  return item * l.step + (l.order == CUBLASLT_ORDER_ROW ? row * l.ld + column : column * l.ld + row);
}

struct Operands {
  const void *a, *b, *c;
  void* d;
  void* workspace;
  size_t workspace_bytes;
};

// As a row-major matrix is its transpose here: d^T (n x m) = op(b)^T op(a)^T.
template <typename T>
void Compute(const Problem& p, const Operands& o, T alpha, T beta) {
  const Number scale = p.how.scale == CUDA_R_64F ? Number::kDouble : p.how.scale == CUDA_R_16F ? Number::kHalf : Number::kFloat;
  const int64_t m = p.m, n = p.n, k = p.k;
  std::vector<T> a(static_cast<size_t>(k * m)), b(static_cast<size_t>(n * k)), sum(static_cast<size_t>(n * m));
  if (o.workspace && o.workspace_bytes) std::memset(o.workspace, 0xff, o.workspace_bytes);  // whoever keeps something there loses it
  for (int64_t item = 0; item < p.d.batch; ++item) {
    for (int64_t l = 0; l < k; ++l)
      for (int64_t i = 0; i < m; ++i)
        a[l * m + i] = OfInputs<T>(p, o.a, p.how.trans_a == CUBLAS_OP_N ? At(p.a, i, l, item) : At(p.a, l, i, item));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        b[j * k + l] = OfInputs<T>(p, o.b, p.how.trans_b == CUBLAS_OP_N ? At(p.b, l, j, item) : At(p.b, j, l, item));
    std::fill(sum.begin(), sum.end(), T{0});
    MultiplyAdd(n, m, k, b.data(), k, a.data(), m, sum.data(), m);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        T v = alpha * Rounded(scale, sum[j * m + i]);
        if (beta != T{0}) v += beta * Load<T>(p.out, o.c, At(p.c, i, j, item));
        if (p.bias()) v += Load<T>(p.out, p.how.bias, item * p.how.bias_step + i);
        if (p.relu()) v = v < T{0} ? T{0} : v;
        Store(p.out, o.d, At(p.d, i, j, item), v);
      }
    if (p.sums()) {
      const bool of_a = p.how.epilogue == CUBLASLT_EPILOGUE_BGRADA;
      for (int64_t i = 0; i < (of_a ? m : n); ++i) {
        double total = 0;
        for (int64_t l = 0; l < k; ++l) total += static_cast<double>(of_a ? a[l * m + i] : b[i * k + l]);
        Store(p.out, const_cast<void*>(p.how.bias), i, static_cast<T>(total));
      }
    }
  }
}

cublasStatus_t CheckPointer(const void* pointer, uint64_t alignment, int64_t elements, size_t size, const char* name,
                            const char* function) {
  if (!pointer) return Invalid(function, std::string(name) + " is null");
  if (reinterpret_cast<uintptr_t>(pointer) % alignment)
    return Invalid(function,
                   std::string(name) + " is not aligned to the " + std::to_string(alignment) + " bytes that the algorithm was chosen for");
  if (!OnDevice(pointer, static_cast<size_t>(elements) * size))
    return Invalid(function, std::string(name) + ": " + std::to_string(static_cast<size_t>(elements) * size) +
                                 " bytes of it are not in one allocation of a device");
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace host_gpu

using namespace host_gpu;  // NOLINT: the functions below have C names

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  HOST_GPU_COUNT_CALL();
  host_gpu::CheckNoLaunch("cublasLtCreate");
  if (!handle) return Invalid("cublasLtCreate", "no place for the handle");
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return Refuse(CUBLAS_STATUS_NOT_INITIALIZED, "cublasLtCreate", "no device");
  *handle = reinterpret_cast<cublasLtHandle_t>(new uint64_t(kAlgoMagic));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  HOST_GPU_COUNT_CALL();
  delete reinterpret_cast<uint64_t*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  HOST_GPU_COUNT_CALL();
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the requested functionality is not supported";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the function failed to launch on the GPU";
    default: return "unrecognized status";
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  HOST_GPU_COUNT_CALL();
  if (!layout) return Invalid("cublasLtMatrixLayoutCreate", "no place for the layout");
  *layout = new cublasLtMatrixLayoutOpaque_t();
  *reinterpret_cast<Layout*>(*layout) = {
      kLayoutMagic, static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, rows, cols, ld, 1, CUBLASLT_BATCH_MODE_STRIDED, 0, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  HOST_GPU_COUNT_CALL();
  return Destroy<Layout>(layout, kLayoutMagic, "cublasLtMatrixLayoutDestroy");
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cublasLtMatrixLayoutSetAttribute";
  Layout* l = Known<Layout>(layout, kLayoutMagic);
  if (!l) return Invalid(kFunction, "not a layout, or destroyed");
  return SetField({{CUBLASLT_MATRIX_LAYOUT_TYPE, &l->type, 4},
                   {CUBLASLT_MATRIX_LAYOUT_ORDER, &l->order, 4},
                   {CUBLASLT_MATRIX_LAYOUT_ROWS, &l->rows, 8},
                   {CUBLASLT_MATRIX_LAYOUT_COLS, &l->cols, 8},
                   {CUBLASLT_MATRIX_LAYOUT_LD, &l->ld, 8},
                   {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &l->batch, 4},
                   {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &l->step, 8},
                   {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &l->plane, 8},
                   {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &l->mode, 4}},
                  attribute, value, bytes, kFunction);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  HOST_GPU_COUNT_CALL();
  if (!desc) return Invalid("cublasLtMatmulDescCreate", "no place for the descriptor");
  *desc = new cublasLtMatmulDescOpaque_t();
  *reinterpret_cast<Desc*>(*desc) = {kDescMagic,
                                     compute,
                                     scale,
                                     CUBLASLT_POINTER_MODE_HOST,
                                     CUBLAS_OP_N,
                                     CUBLAS_OP_N,
                                     CUBLAS_OP_N,
                                     CUBLAS_FILL_MODE_FULL,
                                     CUBLASLT_EPILOGUE_DEFAULT,
                                     nullptr,
                                     0,
                                     -1,
                                     0,
                                     {}};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  HOST_GPU_COUNT_CALL();
  return Destroy<Desc>(desc, kDescMagic, "cublasLtMatmulDescDestroy");
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              size_t bytes) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cublasLtMatmulDescSetAttribute";
  Desc* d = Known<Desc>(desc, kDescMagic);
  if (!d) return Invalid(kFunction, "not a descriptor of a product, or destroyed");
  return SetField({{CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &d->compute, 4},
                   {CUBLASLT_MATMUL_DESC_SCALE_TYPE, &d->scale, 4},
                   {CUBLASLT_MATMUL_DESC_POINTER_MODE, &d->pointer_mode, 4},
                   {CUBLASLT_MATMUL_DESC_TRANSA, &d->trans_a, 4},
                   {CUBLASLT_MATMUL_DESC_TRANSB, &d->trans_b, 4},
                   {CUBLASLT_MATMUL_DESC_TRANSC, &d->trans_c, 4},
                   {CUBLASLT_MATMUL_DESC_FILL_MODE, &d->fill, 4},
                   {CUBLASLT_MATMUL_DESC_EPILOGUE, &d->epilogue, 4},
                   {CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d->bias, 8},
                   {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &d->bias_step, 8},
                   {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &d->bias_type, 4},
                   {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &d->unused_number, 4},
                   {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &d->unused[0], 8},
                   {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &d->unused[1], 8},
                   {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &d->unused[2], 8},
                   {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, &d->unused[3], 8},
                   {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &d->unused[4], 8},
                   {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &d->unused[5], 8}},
                  attribute, value, bytes, kFunction);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  HOST_GPU_COUNT_CALL();
  if (!preference) return Invalid("cublasLtMatmulPreferenceCreate", "no place for the preference");
  *preference = new cublasLtMatmulPreferenceOpaque_t();
  *reinterpret_cast<Preference*>(*preference) = {
      kPreferenceMagic, 0, CUBLASLT_SEARCH_BEST_FIT, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}, ~uint64_t{0}, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  HOST_GPU_COUNT_CALL();
  return Destroy<Preference>(preference, kPreferenceMagic, "cublasLtMatmulPreferenceDestroy");
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cublasLtMatmulPreferenceSetAttribute";
  Preference* p = Known<Preference>(preference, kPreferenceMagic);
  if (!p) return Invalid(kFunction, "not a preference, or destroyed");
  return SetField({{CUBLASLT_MATMUL_PREF_SEARCH_MODE, &p->search, 4},
                   {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &p->workspace, 8},
                   {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &p->schemes, 4},
                   {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &p->alignment[0], 4},
                   {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &p->alignment[1], 4},
                   {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &p->alignment[2], 4},
                   {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &p->alignment[3], 4},
                   {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, &p->waves, 4},
                   {CUBLASLT_MATMUL_PREF_IMPL_MASK, &p->implementations, 8}},
                  attribute, value, bytes, kFunction);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cublasLtMatmulAlgoGetHeuristic";
  if (!handle) return Refuse(CUBLAS_STATUS_NOT_INITIALIZED, kFunction, "no handle");
  const Preference* wanted = Known<Preference>(preference, kPreferenceMagic);
  if (!wanted || requested <= 0 || !results || !count) return Invalid(kFunction, "no preference, or no room for results");
  *count = 0;
  Problem p;
  const cublasStatus_t status = Describe(desc, a, b, c, d, kFunction, &p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (Refused(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (uint32_t bytes : wanted->alignment)
    if (!bytes || bytes & (bytes - 1)) return Invalid(kFunction, "an alignment of " + std::to_string(bytes) + " bytes");
  for (const Algo& algo : Algorithms(p, *wanted)) {
    if (*count == requested) break;
    cublasLtMatmulHeuristicResult_t& r = results[(*count)++] = {};
    std::memcpy(r.algo.data, &algo, sizeof algo);
    r.workspaceSize = algo.workspace;
    r.state = CUBLAS_STATUS_SUCCESS;
    r.wavesCount = 1;
  }
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* given, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cublasLtMatmul";
  if (!handle) return Refuse(CUBLAS_STATUS_NOT_INITIALIZED, kFunction, "no handle");
  Problem p;
  cublasStatus_t status = Describe(desc, a_layout, b_layout, c_layout, d_layout, kFunction, &p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (Refused(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  Algo algo;
  if (given) {
    std::memcpy(&algo, given->data, sizeof algo);
    if (algo.magic != kAlgoMagic) return Invalid(kFunction, "an algorithm that no heuristic named");
    if (algo.key != p.Key()) return Invalid(kFunction, "an algorithm for another product");
  } else {
    const Preference any = {kPreferenceMagic,
                            workspace ? workspace_bytes : 0,
                            CUBLASLT_SEARCH_BEST_FIT,
                            CUBLASLT_REDUCTION_SCHEME_MASK,
                            {1, 1, 1, 1},
                            ~uint64_t{0},
                            0};
    Preference aligned = any;
    for (uint32_t& bytes : aligned.alignment) bytes = 8;
    algo = Algorithms(p, aligned).back();
  }
  if (algo.workspace && !workspace)
    return Invalid(kFunction, "no workspace; the algorithm needs " + std::to_string(algo.workspace) + " bytes");
  if (algo.workspace > workspace_bytes)
    return Invalid(kFunction,
                   "a workspace of " + std::to_string(workspace_bytes) + " bytes; the algorithm needs " + std::to_string(algo.workspace));
  if (reinterpret_cast<uintptr_t>(workspace) % 256) return Invalid(kFunction, "the workspace is not aligned to 256 bytes");
  if (algo.workspace && !OnDevice(workspace, algo.workspace))
    return Invalid(kFunction, "the workspace is not in one allocation of a device");
  if (!alpha || !beta) return Invalid(kFunction, "no alpha, or no beta");
  const size_t in = SizeOf(p.in), out = SizeOf(p.out);
  const bool wide = p.how.scale == CUDA_R_64F, host = p.how.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
  const Number scale = wide ? Number::kDouble : p.how.scale == CUDA_R_16F ? Number::kHalf : Number::kFloat;
  for (const void* s : {alpha, beta})
    if (OnDevice(s, SizeOf(scale)) == host)
      return Invalid(kFunction, host ? "alpha or beta in a device's memory; the pointer mode is HOST"
                                     : "alpha or beta in the host's memory; the pointer mode is DEVICE");
  const bool reads_c = !host || Load<double>(scale, beta, 0) != 0;
  if ((status = CheckPointer(a, algo.alignment[0], Extent(p.a), in, "A", kFunction)) != CUBLAS_STATUS_SUCCESS) return status;
  if ((status = CheckPointer(b, algo.alignment[1], Extent(p.b), in, "B", kFunction)) != CUBLAS_STATUS_SUCCESS) return status;
  if ((status = CheckPointer(d, algo.alignment[3], Extent(p.d), out, "D", kFunction)) != CUBLAS_STATUS_SUCCESS) return status;
  if (reads_c && (status = CheckPointer(c, algo.alignment[2], Extent(p.c), out, "C", kFunction)) != CUBLAS_STATUS_SUCCESS) return status;
  if (c == d && (p.c.ld != p.d.ld || p.c.step != p.d.step)) return Invalid(kFunction, "C is D, but lies otherwise");
  if (p.bias() || p.sums()) {
    const int64_t length = p.how.epilogue == CUBLASLT_EPILOGUE_BGRADB ? p.n : p.m;
    status = CheckPointer(p.how.bias, out, length + (p.d.batch - 1) * p.how.bias_step, out, p.bias() ? "the bias" : "the bias gradient",
                          kFunction);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  // dense operands tell whether the result lies upon them; others may lie between each other's
  // columns
  for (const auto& other : {std::make_pair(a, &p.a), std::make_pair(b, &p.b)}) {
    const char *from = static_cast<const char*>(other.first), *to = static_cast<const char*>(d);
    const bool dense = other.second->ld == static_cast<int64_t>(other.second->rows) && p.d.ld == p.m && p.d.batch == 1;
    if (dense && from < to + static_cast<size_t>(Extent(p.d)) * out && to < from + static_cast<size_t>(Extent(*other.second)) * in)
      return Invalid(kFunction, "D lies upon A or B");
  }
  if (NullMode()) return CUBLAS_STATUS_SUCCESS;
  const Operands operands = {a, b, c, d, workspace, algo.workspace};
  double factors[2] = {};
  if (host) factors[0] = Load<double>(scale, alpha, 0), factors[1] = Load<double>(scale, beta, 0);
  const cudaError_t error = Submit(stream, "cuBLASLt product", [=] {
    const double first = host ? factors[0] : Load<double>(scale, alpha, 0), second = host ? factors[1] : Load<double>(scale, beta, 0);
    if (wide)
      Compute<double>(p, operands, first, second);
    else
      Compute<float>(p, operands, static_cast<float>(first), static_cast<float>(second));
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
