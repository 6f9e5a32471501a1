// The functions of dense.h on a GPU: kernels of gpu_dense.cuh for blocks of 32 rows or columns, and
// of gpu_eigen.cuh; the vendor's matrix products for what lies beside the blocks.
#include "operator/linalg/dense_gpu.h"

#include <algorithm>
#include <limits>

#include "base/dtype.h"
#include "operator/gpu_library/gemm.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "rtc/loop.h"

namespace mxnet {
namespace linalg {
namespace gpu {
namespace {

const char* const kFile = "operator/linalg/gpu_dense.cuh";
const char* const kEigenFile = "operator/linalg/gpu_eigen.cuh";
const char* const kParts = "operator/linalg/gpu_parts.cuh";
constexpr int64_t kBlock = 32, kInverse = kBlock * kBlock;  // numbers of a block's inverse, whose rows lie kBlock apart
// Eigenvalues of a matrix of at most this order, or of many of at most the second one, take a block
// of threads each; those of others take all of the GPU, one step after the other.
constexpr int64_t kOneBlock = 48, kOneBlockOfMany = 128, kMany = 64;

// Part of a batch of matrices: rows lie `ld` numbers apart, matrices `step`.
struct Part2d {
  char* data;
  int64_t ld, step;
};

// One operator's work on one stream.
class Job {
 public:
  explicit Job(KernelArgs& args) : args_(args), dtype_(args.in[0].dtype), bytes_(static_cast<int64_t>(DTypeSize(dtype_))) {}

  const RunContext& run() const { return args_.run; }
  int dtype() const { return dtype_; }
  bool wide() const { return dtype_ == kFloat64; }
  double epsilon() const { return wide() ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon(); }
  template <typename T>
  T* Memory(int64_t n) const {
    return static_cast<T*>(args_.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T)));
  }
  char* Numbers(int64_t n) const { return Memory<char>(n * bytes_); }
  Part2d At(void* data, int64_t n, int64_t columns, int64_t row, int64_t column) const {
    return {static_cast<char*>(data) + (row * columns + column) * bytes_, columns, n * columns};
  }

  // c = alpha * op(a) op(b), or added to c.
  void Multiply(int64_t batch, int64_t m, int64_t n, int64_t k, double alpha, const Part2d& a, bool ta, const Part2d& b, bool tb,
                const Part2d& c, bool add) const {
    if (batch * m * n * k == 0) return;
    gpu_library::Gemm g;
    g.dtype = dtype_, g.trans_a = ta, g.trans_b = tb, g.batch = batch, g.m = m, g.n = n, g.k = k, g.alpha = alpha;
    g.lda = a.ld, g.ldb = b.ld, g.ldc = c.ld, g.step_a = a.step, g.step_b = b.step, g.step_c = c.step;
    gpu_library::Epilogue tail;
    tail.addend = add ? c.data : nullptr;
    gpu_library::Multiply(run(), args_.workspace, g, a.data, b.data, c.data, tail);
  }
  void Copy(int64_t batch, int64_t rows, int64_t columns, const Part2d& from, const Part2d& to) const {
    const int64_t shape[3] = {batch, rows, columns}, source[3] = {from.step, from.ld, 1}, target[3] = {to.step, to.ld, 1};
    if (batch * rows * columns != 0) CopyStrided(run(), from.data, source, to.data, target, shape, 3, static_cast<size_t>(bytes_));
  }
  void CopyAll(const void* from, void* to, int64_t n) const { CopyBytes(run(), from, to, n * bytes_); }
  void Transpose(const void* from, void* to, int64_t count, int64_t n) const {
    const int axes[3] = {0, 2, 1};
    Permute(run(), from, Shape({count, n, n}), axes, to, static_cast<size_t>(bytes_));
  }
  void Scale(double factor, void* x, int64_t n) const {
    if (factor == 1 || n == 0) return;
    if (factor == 0) return ZeroBytes(run(), x, n * bytes_);
    TBlob blob;
    blob.dptr = x, blob.shape = Shape({n}), blob.dtype = dtype_, blob.ctx = run().ctx;
    const pointwise::Operand operands[2] = {blob, pointwise::Operand(factor)};
    pointwise::Execute(run(), pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(dtype_, false), operands, 2,
                       pointwise::kBinaryMasks, nullptr, blob, OpReq::kWrite);
  }
  // Parts of shapes.h; 0: lower, 1: upper, 2: the lower one mirrored.
  void KeepPart(int part, const void* from, void* to, int64_t count, int64_t n) const {
    rtc::Arguments given;
    given.Add(from).Add(to).Add(n);
    rtc::LaunchItems(run(), {kParts, "linalg_part", {dtype_}, {part}}, count * n * n, &given);
  }
  void Identity(void* out, int64_t count, int64_t n) const {
    rtc::Arguments given;
    given.Add(out).Add(n);
    rtc::LaunchItems(run(), {kFile, "linalg_identity", {dtype_}}, count * n * n, &given);
  }

  uint64_t* Finding() const {
    uint64_t* finding = Memory<uint64_t>(1);
    ZeroBytes(run(), finding, sizeof(uint64_t));
    return finding;
  }
  static uint64_t Read(const RunContext& run, const uint64_t* finding) {
    uint64_t found = 0;
    rtc::ReadBack(run, finding, &found, sizeof(found));
    return found;
  }
  void ThrowFound(const uint64_t* finding, int64_t count, const char* what) const {
    const uint64_t found = Read(run(), finding);
    if (found) ThrowTrouble(args_, count - static_cast<int64_t>(found >> 32), static_cast<int64_t>(found & 0xffffffffu), what);
  }

  void FactorLower(int64_t count, int64_t n, void* a, uint64_t* finding) const;
  // Inverses of blocks on the diagonals, kInverse numbers each.
  void InvertBlocks(bool lower, bool unit, int64_t count, int64_t n, const void* a, int64_t first, int64_t blocks, void* inverse) const;
  void Solve(const SmallSide& side, bool unit, int64_t count, int64_t m, int64_t n, const void* a, void* x) const;
  void Lu(int64_t count, int64_t n, void* a, int64_t* pivots, uint64_t* finding) const;
  void SwapRows(int64_t count, int64_t n, void* a, const int64_t* pivots, int64_t first, int64_t last, int64_t skip, int64_t skipped) const;
  void InverseOfLu(int64_t count, int64_t n, const void* lu, const int64_t* pivots, void* out) const;

 private:
  KernelArgs& args_;
  int dtype_;
  int64_t bytes_;
};

void Job::FactorLower(int64_t count, int64_t n, void* a, uint64_t* finding) const {
  char *inverse = Numbers(count * kInverse), *panel = Numbers(count * std::max<int64_t>(n - kBlock, 0) * kBlock);
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t size = std::min(kBlock, n - first), end = first + size, rest = n - end;
    rtc::Arguments given;
    given.Add(a).Add(inverse).Add(finding).Add(n).Add(first).Add(size);
    rtc::LaunchRows(run(), {kFile, "linalg_cholesky_block", {dtype_}}, count, &given);
    if (rest == 0) break;
    const Part2d below = At(a, n, n, end, first), rows{panel, size, rest * size};
    Multiply(count, rest, size, size, 1, below, false, {inverse, kBlock, kInverse}, true, rows, false);
    Copy(count, rest, size, rows, below);
    Multiply(count, rest, rest, size, -1, rows, false, rows, true, At(a, n, n, end, end), true);
  }
}

void Job::InvertBlocks(bool lower, bool unit, int64_t count, int64_t n, const void* a, int64_t first, int64_t blocks, void* inverse) const {
  rtc::Arguments given;
  given.Add(a).Add(inverse).Add(n).Add(first).Add(blocks);
  rtc::LaunchRows(run(), {kFile, "linalg_triangle_blocks", {dtype_}, {lower, unit}}, count * blocks, &given);
}

// Block by block: x_i = op(a)_ii^-1 b_i, then what x_i adds to the others leaves them.
void Job::Solve(const SmallSide& side, bool unit, int64_t count, int64_t m, int64_t n, const void* a, void* x) const {
  const int64_t order = side.right ? n : m, blocks = (order + kBlock - 1) / kBlock;
  if (count * m * n == 0) return;
  char *inverse = Numbers(count * blocks * kInverse), *found = Numbers(count * kBlock * (side.right ? m : n));
  InvertBlocks(side.lower, unit, count, order, a, 0, blocks, inverse);
  void* triangle = const_cast<void*>(a);
  const bool lower = side.lower != side.transpose, forward = lower != side.right;
  for (int64_t step = 0; step < blocks; ++step) {
    const int64_t i = forward ? step : blocks - 1 - step, first = i * kBlock, size = std::min(kBlock, order - first), end = first + size;
    const Part2d block = At(inverse, kBlock * blocks, kBlock, i * kBlock, 0);
    const Part2d part = side.right ? At(x, m, n, 0, first) : At(x, m, n, first, 0);
    const Part2d solution = side.right ? Part2d{found, size, m * size} : Part2d{found, n, size * n};
    if (side.right)
      Multiply(count, m, size, size, 1, part, false, block, side.transpose, solution, false);
    else
      Multiply(count, size, n, size, 1, block, side.transpose, part, false, solution, false);
    Copy(count, side.right ? m : size, side.right ? size : n, solution, part);
    const int64_t begin = forward ? end : 0, rest = forward ? order - end : first;
    if (rest == 0) continue;
    // the rows or columns of op(a) that the rest meets x_i with
    const bool rows = side.right != side.transpose;
    const Part2d between = rows ? At(triangle, order, order, first, begin) : At(triangle, order, order, begin, first);
    if (side.right)
      Multiply(count, m, rest, size, -1, solution, false, between, side.transpose, At(x, m, n, 0, begin), true);
    else
      Multiply(count, rest, n, size, -1, between, side.transpose, solution, false, At(x, m, n, begin, 0), true);
  }
}

void Job::SwapRows(int64_t count, int64_t n, void* a, const int64_t* pivots, int64_t first, int64_t last, int64_t skip,
                   int64_t skipped) const {
  const int64_t columns = n - skipped;
  rtc::Arguments given;
  given.Add(a).Add(pivots).Add(n).Add(columns).Add(first).Add(last).Add(skip).Add(skipped);
  rtc::LaunchItems(run(), {kFile, "linalg_swap_rows", {dtype_}}, count * columns, &given);
}

void Job::Lu(int64_t count, int64_t n, void* a, int64_t* pivots, uint64_t* finding) const {
  char *inverse = Numbers(count * kInverse), *right = Numbers(count * std::max<int64_t>(n - kBlock, 0) * kBlock);
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t size = std::min(kBlock, n - first), end = first + size, rest = n - end;
    rtc::Arguments given;
    given.Add(a).Add(pivots).Add(finding).Add(n).Add(first).Add(size);
    rtc::LaunchRows(run(), {kFile, "linalg_lu_panel", {dtype_}}, count, &given);
    if (n > size) SwapRows(count, n, a, pivots, first, end, first, size);
    if (rest == 0) break;
    InvertBlocks(true, true, count, n, a, first / kBlock, 1, inverse);
    const Part2d beside = At(a, n, n, first, end), rows{right, rest, size * rest};
    Multiply(count, size, rest, size, 1, {inverse, kBlock, kInverse}, false, beside, false, rows, false);
    Copy(count, size, rest, rows, beside);
    Multiply(count, rest, rest, size, -1, At(a, n, n, end, first), false, rows, false, At(a, n, n, end, end), true);
  }
}

void Job::InverseOfLu(int64_t count, int64_t n, const void* lu, const int64_t* pivots, void* out) const {
  Identity(out, count, n);
  SwapRows(count, n, out, pivots, 0, n, 0, 0);
  Solve({true, false, false}, true, count, n, n, lu, out);
  Solve({false, false, false}, false, count, n, n, lu, out);
}

}  // namespace

void Cholesky(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* a, void* out) {
  if (count * n == 0) return;
  const Job job(args);
  uint64_t* finding = job.Finding();
  void* factor = lower ? out : job.Numbers(count * n * n);
  if (lower)
    job.CopyAll(a, factor, count * n * n);
  else
    job.Transpose(a, factor, count, n);
  job.FactorLower(count, n, factor, finding);
  job.KeepPart(0, factor, factor, count, n);
  if (!lower) job.Transpose(factor, out, count, n);
  job.ThrowFound(finding, count, kNotPositive);
}

void CholeskyInverse(KernelArgs& args, bool lower, int64_t count, int64_t n, const void* l, void* out) {
  if (count * n == 0) return;
  const Job job(args);
  if (!lower) {
    char* turned = job.Numbers(count * n * n);
    job.Transpose(l, turned, count, n);
    l = turned;
  }
  uint64_t* finding = job.Finding();
  rtc::Arguments given;
  given.Add(l).Add(finding).Add(n).Add(count);
  rtc::LaunchItems(args.run, {kFile, "linalg_check_diagonal", {job.dtype()}}, count * n, &given);
  char* x = job.Numbers(count * n * n);
  job.Identity(x, count, n);
  job.Solve({true, false, false}, false, count, n, n, l, x);
  const Part2d whole = job.At(x, n, n, 0, 0);
  job.Multiply(count, n, n, n, 1, whole, true, whole, false, job.At(out, n, n, 0, 0), false);
  job.KeepPart(2, out, out, count, n);
  job.ThrowFound(finding, count, kSingularFactor);
}

void SolveTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x) {
  const Job job(args);
  job.Scale(alpha, x, count * m * n);
  if (alpha != 0) job.Solve(side, false, count, m, n, a, x);
}

void MultiplyTriangle(KernelArgs& args, const SmallSide& side, double alpha, int64_t count, int64_t m, int64_t n, const void* a, void* x) {
  const Job job(args);
  const int64_t order = side.right ? n : m;
  if (count * m * n == 0) return;
  if (alpha == 0) return job.Scale(0, x, count * m * n);
  char *triangle = job.Numbers(count * order * order), *before = job.Numbers(count * m * n);
  job.KeepPart(side.lower ? 0 : 1, a, triangle, count, order);
  job.CopyAll(x, before, count * m * n);
  const Part2d t = job.At(triangle, order, order, 0, 0), b = job.At(before, m, n, 0, 0), to = job.At(x, m, n, 0, 0);
  if (side.right)
    job.Multiply(count, m, n, n, alpha, b, false, t, side.transpose, to, false);
  else
    job.Multiply(count, m, n, m, alpha, t, side.transpose, b, false, to, false);
}

void Inverse(KernelArgs& args, int64_t count, int64_t n, const void* a, void* out) {
  if (count * n == 0) return;
  const Job job(args);
  uint64_t* finding = job.Finding();
  char* lu = job.Numbers(count * n * n);
  int64_t* pivots = job.Memory<int64_t>(count * n);
  job.CopyAll(a, lu, count * n * n);
  job.Lu(count, n, lu, pivots, finding);
  job.InverseOfLu(count, n, lu, pivots, out);
  job.ThrowFound(finding, count, kSingular);
}

void SolveGeneral(KernelArgs& args, bool transpose, int64_t count, int64_t n, int64_t k, const void* a, const void* b, void* x) {
  if (count * n * k == 0) return;
  const Job job(args);
  uint64_t* finding = job.Finding();
  char *lu = job.Numbers(count * n * n), *order = job.Numbers(count * n * n), *swapped = job.Numbers(count * n * k);
  int64_t* pivots = job.Memory<int64_t>(count * n);
  transpose ? job.Transpose(a, lu, count, n) : job.CopyAll(a, lu, count * n * n);
  job.Lu(count, n, lu, pivots, finding);
  job.Identity(order, count, n);
  job.SwapRows(count, n, order, pivots, 0, n, 0, 0);
  job.Multiply(count, n, k, n, 1, job.At(order, n, n, 0, 0), false, job.At(const_cast<void*>(b), n, k, 0, 0), false,
               job.At(swapped, n, k, 0, 0), false);
  job.CopyAll(swapped, x, count * n * k);
  job.Solve({true, false, false}, true, count, n, k, lu, x);
  job.Solve({false, false, false}, false, count, n, k, lu, x);
  job.ThrowFound(finding, count, kSingular);
}

void Determinants(KernelArgs& args, int64_t count, int64_t n, const void* a, void* sign, void* det) {
  if (count == 0) return;
  const Job job(args);
  char* lu = job.Numbers(count * n * n);
  int64_t* pivots = job.Memory<int64_t>(count * n);
  job.CopyAll(a, lu, count * n * n);
  job.Lu(count, n, lu, pivots, job.Finding());
  rtc::Arguments given;
  given.Add(lu).Add(pivots).Add(sign).Add(det).Add(n);
  rtc::LaunchItems(args.run, {kFile, "linalg_determinant", {job.dtype()}, {sign != nullptr}}, count, &given);
}

void DeterminantGradients(KernelArgs& args, bool logarithm, int64_t count, int64_t n, const void* a, const void* factor, void* out) {
  if (count * n == 0) return;
  const Job job(args);
  char *lu = job.Numbers(count * n * n), *inverse = job.Numbers(count * n * n);
  int64_t *pivots = job.Memory<int64_t>(count * n), *none = job.Memory<int64_t>(count);
  double* scale = job.Memory<double>(count);
  uint64_t* finding = job.Finding();
  job.CopyAll(a, lu, count * n * n);
  job.Lu(count, n, lu, pivots, job.Finding());
  rtc::Arguments about;
  about.Add(lu).Add(pivots).Add(factor).Add(scale).Add(none).Add(finding).Add(n).Add(job.epsilon());
  rtc::LaunchItems(args.run, {kFile, "linalg_determinant_factor", {job.dtype()}, {logarithm}}, count, &about);
  job.InverseOfLu(count, n, lu, pivots, inverse);
  rtc::Arguments last;
  last.Add(inverse).Add(scale).Add(none).Add(out).Add(n);
  rtc::LaunchItems(args.run, {kFile, "linalg_scaled_transpose", {job.dtype()}}, count * n * n, &last);
  if (logarithm || !Job::Read(args.run, finding)) return;
  rtc::Arguments given;
  given.Add(a).Add(factor).Add(none).Add(job.Memory<double>(count * 2 * n * n)).Add(job.Memory<int64_t>(count * 2 * n)).Add(out).Add(n);
  rtc::LaunchRows(args.run, {kFile, "linalg_cofactors", {job.dtype()}}, count, &given);
}

void FactorLq(KernelArgs& args, int64_t count, int64_t m, int64_t n, void* q, void* l) {
  if (count * m * n == 0) return;
  const Job job(args);
  rtc::Arguments given;
  given.Add(q).Add(l).Add(job.Numbers(count * m)).Add(m).Add(n);
  rtc::LaunchRows(args.run, {kFile, "linalg_lq", {job.dtype()}}, count, &given);
}

namespace {

// Jacobi's sweeps over matrices that one block of threads would take too long for.
void SweepLarge(const Job& job, int64_t count, int64_t n, void* a, void* u, void* rotations, uint64_t* finding) {
  const int64_t even = n + n % 2, pairs = even / 2;
  for (int sweep = 0;; ++sweep) {
    ZeroBytes(job.run(), finding, sizeof(uint64_t));
    rtc::Arguments more;
    more.Add(a).Add(finding).Add(n).Add(job.epsilon());
    rtc::LaunchRows(job.run(), {kEigenFile, "linalg_jacobi_more", {job.dtype()}}, count, &more);
    if (sweep == 60 || !Job::Read(job.run(), finding)) return;
    for (int64_t round = 0; round < even - 1; ++round) {
      rtc::Arguments angles;
      angles.Add(a).Add(rotations).Add(n).Add(round);
      rtc::LaunchItems(job.run(), {kEigenFile, "linalg_jacobi_angles", {job.dtype()}}, count * pairs, &angles);
      for (int columns : {0, 1}) {
        rtc::Arguments rotate;
        rotate.Add(a).Add(u).Add(rotations).Add(n).Add(round);
        rtc::LaunchItems(job.run(), {kEigenFile, "linalg_jacobi_rotate", {job.dtype()}, {columns}}, count * pairs * n, &rotate);
      }
    }
  }
}

}  // namespace

void EigenSymmetric(KernelArgs& args, int64_t count, int64_t n, void* u, void* w) {
  if (count * n == 0) return;
  const Job job(args);
  const int64_t even = n + n % 2;
  uint64_t* finding = job.Finding();
  char *a = job.Numbers(count * n * n), *vectors = job.Numbers(count * n * n), *rotations = job.Numbers(count * even);
  job.KeepPart(2, u, a, count, n);
  job.Identity(vectors, count, n);
  if (n <= kOneBlock || (n <= kOneBlockOfMany && count >= kMany)) {
    rtc::Arguments given;
    given.Add(a).Add(vectors).Add(rotations).Add(finding).Add(n).Add(job.epsilon());
    rtc::LaunchRows(args.run, {kEigenFile, "linalg_jacobi", {job.dtype()}}, count, &given);
  } else {
    SweepLarge(job, count, n, a, vectors, rotations, finding);
  }
  rtc::Arguments last;
  last.Add(a).Add(vectors).Add(u).Add(w).Add(n);
  rtc::LaunchRows(args.run, {kEigenFile, "linalg_sorted_vectors", {job.dtype()}}, count * n, &last);
  job.ThrowFound(finding, count, kNotConverged);
}

void SymmetricProduct(KernelArgs& args, bool transpose, double alpha, int64_t count, int64_t rows, int64_t columns, const void* a,
                      void* out) {
  const Job job(args);
  const int64_t n = transpose ? columns : rows, k = transpose ? rows : columns;
  if (count * n == 0) return;
  if (k == 0 || alpha == 0) return job.Scale(0, out, count * n * n);
  const Part2d factor = job.At(const_cast<void*>(a), rows, columns, 0, 0);
  job.Multiply(count, n, n, k, alpha, factor, transpose, factor, !transpose, job.At(out, n, n, 0, 0), false);
  job.KeepPart(2, out, out, count, n);
}

}  // namespace gpu
}  // namespace linalg
}  // namespace mxnet
