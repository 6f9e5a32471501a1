// Sparse arrays in containers.
#include <algorithm>
#include <numeric>
#include <vector>

#include "ndarray/container_reader.h"
#include "ndarray/sparse_copy.h"

namespace mxnet::container {
namespace {

/* What a file has of a sparse array, and where. */
struct Stored {
  Shape values_shape, shape;
  int dtype = kFloat32;
  size_t values_at = 0;  // of the first byte of the values
  struct Index {
    int dtype = kInt64;
    int64_t count = 0;
    size_t at = 0;               // of its first byte in the input
    int64_t* numbers = nullptr;  // in the array that is made
    size_t ByteOf(size_t i) const { return at + i * DTypeSize(dtype); }
  };
  std::vector<Index> index;
  int64_t count() const { return values_shape[0]; }
  bool csr() const { return index.size() == 2; }
  /* Elements whose numbers belong together: those of a csr row, or all rows. */
  size_t runs() const { return csr() ? static_cast<size_t>(shape[0]) : 1; }
  size_t begin(size_t run) const {
    return csr() ? static_cast<size_t>(index[0].numbers[run]) : run == 0 ? 0 : static_cast<size_t>(count());
  }
  size_t row_bytes() const { return static_cast<size_t>(values_shape.Prod(1, values_shape.ndim())) * DTypeSize(dtype); }
};

Stored FindParts(Reader* r, int num_index) {
  Stored s;
  s.values_shape = ReadShape(r, "storage shape");
  s.shape = ReadShape(r, "shape");
  if (s.values_shape.ndim() < 1 || s.shape.ndim() < 1) r->Fail("a sparse array without shape");
  r->Read<int32_t>("context");
  r->Read<int32_t>("context");
  s.dtype = r->Read<int32_t>("type flag");
  for (int i = 0; i < num_index; ++i) {
    s.index.emplace_back();
    Stored::Index& index = s.index.back();
    index.dtype = r->Read<int32_t>("auxiliary type flag");
    if (DTypeSize(index.dtype) == 0 || IsFloating(index.dtype) || index.dtype == kBool)
      r->Fail("auxiliary type flag " + std::to_string(index.dtype) + "; accepted: those of integers");
    const Shape shape = ReadShape(r, "auxiliary shape");
    if (shape.ndim() != 1) r->Fail("an auxiliary array of shape " + shape.str() + "; accepted: one dimension");
    index.count = shape[0];
  }
  s.values_at = r->Skip(CheckedBytes(r, s.values_shape, s.dtype), "array values");
  for (Stored::Index& index : s.index) index.at = r->Skip(CheckedBytes(r, Shape{index.count}, index.dtype), "auxiliary values");
  return s;
}

void CheckSizesOfRowSparse(const Reader& r, const Stored& s) {
  bool fits = s.values_shape.ndim() == s.shape.ndim();
  for (int d = 1; fits && d < s.shape.ndim(); ++d) fits = s.values_shape[d] == s.shape[d];
  if (!fits) r.Fail("row_sparse values of shape " + s.values_shape.str() + " for an array of shape " + s.shape.str());
  if (s.index[0].count != s.count())
    r.Fail("row_sparse has " + std::to_string(s.index[0].count) + " indices and " + std::to_string(s.count()) + " rows");
}

/* What 1.9.1 made and never filled has no index pointers. */
bool IsUnfilled(const Reader& r, const Stored& s) {
  return s.index[0].count == 0 && s.count() == 0 && s.shape[0] <= static_cast<int64_t>(r.size());
}

void CheckSizesOfCSR(const Reader& r, const Stored& s) {
  if (s.values_shape.ndim() != 1 || s.shape.ndim() != 2)
    r.Fail("csr values of shape " + s.values_shape.str() + " for an array of shape " + s.shape.str() +
           "; accepted: one and two dimensions");
  if (s.index[0].count - 1 != s.shape[0] && !IsUnfilled(r, s)) r.Fail("csr needs one index pointer per row plus one");
  if (s.index[1].count != s.count())
    r.Fail("csr has " + std::to_string(s.index[1].count) + " indices and " + std::to_string(s.count()) + " values");
}

void ReadNumbers(Reader* r, const Stored::Index& index) {
  const size_t bytes = static_cast<size_t>(index.count) * DTypeSize(index.dtype);
  if (index.dtype == kInt64) return r->CopyTo(index.numbers, index.at, bytes);
  std::vector<char> stored(bytes);
  r->CopyTo(stored.data(), index.at, bytes);
  ConvertElements(stored.data(), index.dtype, index.numbers, kInt64, index.count);
}

void CheckPointers(const Reader& r, const Stored& s) {
  const Stored::Index& indptr = s.index[0];
  const int64_t* const ptr = indptr.numbers;
  const size_t last = s.runs();
  for (size_t i = 0; i <= last; ++i)
    if (ptr[i] < (i == 0 ? 0 : ptr[i - 1]) || (i == 0 && ptr[i] != 0) || ptr[i] > s.count())
      r.FailAt(indptr.ByteOf(i), "csr index pointer " + std::to_string(ptr[i]) + " is not in order");
  if (ptr[last] != s.count())
    r.FailAt(indptr.ByteOf(last),
             "csr index pointers end with " + std::to_string(ptr[last]) + " and there are " + std::to_string(s.count()) + " values");
}

/* Is each number larger than the one before? */
bool Ascend(const int64_t* numbers, size_t count) {
  bool all = true;
  for (size_t i = 1; i < count; ++i) all &= numbers[i - 1] < numbers[i];
  return all;
}

/* Throws where a number of the last index array is not in [0, limit). What ascends, as nearly all
 * does, needs a look at its ends alone. Returns the runs that do not. */
std::vector<size_t> CheckRange(const Reader& r, const Stored& s, int64_t limit, const char* name) {
  const Stored::Index& index = s.index.back();
  const int64_t* const numbers = index.numbers;
  std::vector<size_t> unsorted;
  for (size_t run = 0; run < s.runs(); ++run) {
    const size_t begin = s.begin(run), end = s.begin(run + 1);
    if (begin == end) continue;
    const bool ascends = Ascend(numbers + begin, end - begin);
    if (!ascends) unsorted.push_back(run);
    if (ascends && numbers[begin] >= 0 && numbers[end - 1] < limit) continue;
    for (size_t i = begin; i < end; ++i)
      if (numbers[i] < 0 || numbers[i] >= limit)
        r.FailAt(index.ByteOf(i), std::string(name) + ' ' + std::to_string(numbers[i]) + " is outside shape " + s.shape.str());
  }
  return unsorted;
}

/* Brings values and numbers of these runs into ascending order; returns what is known of the array
 * then. */
int Sort(const Reader& r, const Stored& s, const std::vector<size_t>& unsorted, char* values) {
  const Stored::Index& last = s.index.back();
  const size_t bytes = s.row_bytes();
  std::vector<size_t> order;
  bool once = true;
  for (const size_t run : unsorted) {
    const size_t begin = s.begin(run), end = s.begin(run + 1);
    const std::vector<int64_t> numbers(last.numbers + begin, last.numbers + end);
    const std::vector<char> before(values + begin * bytes, values + end * bytes);
    order.resize(end - begin);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      last.numbers[begin + i] = numbers[order[i]];
      if (bytes > 0) std::memcpy(values + (begin + i) * bytes, before.data() + order[i] * bytes, bytes);
      if (i == 0 || numbers[order[i]] != numbers[order[i - 1]]) continue;
      once = false;
      if (!s.csr()) r.FailAt(last.ByteOf(order[i]), "row index " + std::to_string(numbers[order[i]]) + " stands twice");
    }
  }
  return once ? SparseParts::kAscending : SparseParts::kInBounds;
}

/* Contents of the parts, which have their sizes. */
void Fill(Reader* r, Stored* s, SparseParts* parts) {
  for (int i = 0; i < parts->num_index(); ++i) {
    Stored::Index& index = s->index[static_cast<size_t>(i)];
    index.numbers = parts->index[i].data<int64_t>();
    parts->shown_as[i] = index.dtype;
    ReadNumbers(r, index);
  }
  if (s->csr() && IsUnfilled(*r, *s)) std::fill_n(s->index[0].numbers, s->runs() + 1, 0);
  if (s->csr()) CheckPointers(*r, *s);
  const std::vector<size_t> unsorted = CheckRange(*r, *s, s->shape[s->csr() ? 1 : 0], s->csr() ? "column index" : "row index");
  char* const values = static_cast<char*>(parts->values.memory.dptr);
  r->CopyTo(values, s->values_at, static_cast<size_t>(s->count()) * s->row_bytes());
  parts->state = Sort(*r, *s, unsorted, values);
}

}  // namespace

NDArray ReadSparse(Reader* r, StorageType storage) {
  Stored s = FindParts(r, storage == StorageType::kCSR ? 2 : 1);
  if (s.csr())
    CheckSizesOfCSR(*r, s);
  else
    CheckSizesOfRowSparse(*r, s);
  try {
    NDArray a = NDArray::Make(TensorType(s.shape, s.dtype, storage), Context::CPU(), true);
    SparseParts* const parts = a.sparse();
    a.chunk()->Allocate();
    parts->Resize(s.count());
    Fill(r, &s, parts);
    return a;
  } catch (const Error& e) {
    if (e.kind() == Error::Kind::kIO) throw;
    r->Fail(e.what());  // a shape that no array has
  }
}

void WriteSparse(const Sink& sink, const NDArray& array) {
  const NDArray a = array.ctx().is_gpu() ? array.Copy(Context::CPU()) : array;
  const auto write = [&](const SparseParts&) {
    SparseParts* const parts = a.sparse();
    parts->Settle();
    std::string head;
    Append<uint32_t>(&head, kMagicV2);
    Append<int32_t>(&head, static_cast<int32_t>(parts->storage));
    AppendShape(&head, parts->values.shape);
    AppendShape(&head, a.shape());
    Append<int32_t>(&head, static_cast<int32_t>(Context::CPU().dev_type));
    Append<int32_t>(&head, 0);
    Append<int32_t>(&head, a.dtype());
    for (int i = 0; i < parts->num_index(); ++i) {
      Append<int32_t>(&head, parts->shown_as[i]);
      AppendShape(&head, parts->index[i].shape);
    }
    sink(head.data(), head.size());
    sink(parts->values.memory.dptr, parts->values.Bytes());
    for (int i = 0; i < parts->num_index(); ++i) {
      const SparsePart& index = parts->index[i];
      if (parts->shown_as[i] == index.dtype) {
        sink(index.memory.dptr, index.Bytes());
        continue;
      }
      std::vector<char> shown(static_cast<size_t>(index.Size()) * DTypeSize(parts->shown_as[i]));
      ConvertElements(index.memory.dptr, index.dtype, shown.data(), parts->shown_as[i], index.Size());
      sink(shown.data(), shown.size());
    }
  };
  LookAtParts(a, write, "save");
}

}  // namespace mxnet::container
