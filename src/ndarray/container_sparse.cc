// Sparse arrays in containers.
#include <algorithm>
#include <numeric>
#include <vector>

#include "ndarray/container_reader.h"
#include "ndarray/sparse_copy.h"

namespace mxnet::container {
namespace {

/* What a file has of a sparse array. */
struct Stored {
  Shape values_shape, shape;
  int dtype = kFloat32;
  const char* values = nullptr;
  struct Index {
    int dtype = kInt64;
    Shape shape;
    size_t at = 0;  // of its first byte in the input
    std::vector<int64_t> numbers;
    size_t ByteOf(size_t i) const { return at + i * DTypeSize(dtype); }
  };
  std::vector<Index> index;
  std::vector<char> ascends;  // of each run: are its numbers in order, each once?
  int64_t count() const { return values_shape[0]; }
  /* Elements whose numbers belong together: those of a csr row, or all rows. */
  size_t runs() const { return index.size() == 2 ? static_cast<size_t>(shape[0]) : 1; }
  size_t begin(size_t run) const {
    return index.size() == 2 ? static_cast<size_t>(index[0].numbers[run]) : run == 0 ? 0 : static_cast<size_t>(count());
  }
  size_t row_bytes() const {
    return values_shape.ndim() > 0 ? static_cast<size_t>(values_shape.Prod(1, values_shape.ndim())) * DTypeSize(dtype) : 0;
  }
};

Stored ReadParts(Reader* r, int num_index) {
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
    index.shape = ReadShape(r, "auxiliary shape");
    if (index.shape.ndim() != 1) r->Fail("an auxiliary array of shape " + index.shape.str() + "; accepted: one dimension");
  }
  s.values = r->Bytes(CheckedBytes(r, s.values_shape, s.dtype), "array values");
  for (Stored::Index& index : s.index) {
    const size_t bytes = CheckedBytes(r, index.shape, index.dtype);
    index.at = r->at();
    const char* p = r->Bytes(bytes, "auxiliary values");
    if (index.dtype == kInt64) {
      index.numbers.resize(bytes / sizeof(int64_t));
      if (bytes > 0) std::memcpy(index.numbers.data(), p, bytes);
      continue;
    }
    const std::vector<char> aligned(p, p + bytes);
    index.numbers.resize(static_cast<size_t>(index.shape.Size()));
    ConvertElements(aligned.data(), index.dtype, index.numbers.data(), kInt64, static_cast<int64_t>(index.numbers.size()));
  }
  return s;
}

/* Is each number larger than the one before? */
bool Ascend(const int64_t* numbers, size_t count) {
  bool all = true;
  for (size_t i = 1; i < count; ++i) all &= numbers[i - 1] < numbers[i];
  return all;
}

/* Throws where a number of the last index array is not in [0, limit). What ascends, as nearly all
 * does, needs a look at its ends alone. */
void CheckRange(const Reader& r, Stored* s, int64_t limit, const char* name) {
  const Stored::Index& index = s->index.back();
  const size_t runs = s->runs();
  s->ascends.resize(runs);
  for (size_t run = 0; run < runs; ++run) {
    const size_t begin = s->begin(run), end = s->begin(run + 1);
    const int64_t* const numbers = index.numbers.data();
    if (begin == end) continue;
    s->ascends[run] = Ascend(numbers + begin, end - begin);
    if (s->ascends[run] && numbers[begin] >= 0 && numbers[end - 1] < limit) continue;
    for (size_t i = begin; i < end; ++i)
      if (numbers[i] < 0 || numbers[i] >= limit)
        r.FailAt(index.ByteOf(i), std::string(name) + ' ' + std::to_string(numbers[i]) + " is outside shape " + s->shape.str());
  }
}

void CheckRowSparse(const Reader& r, Stored* stored) {
  const Stored& s = *stored;
  bool fits = s.values_shape.ndim() == s.shape.ndim();
  for (int d = 1; fits && d < s.shape.ndim(); ++d) fits = s.values_shape[d] == s.shape[d];
  if (!fits) r.Fail("row_sparse values of shape " + s.values_shape.str() + " for an array of shape " + s.shape.str());
  if (s.index[0].shape[0] != s.count())
    r.Fail("row_sparse has " + std::to_string(s.index[0].shape[0]) + " indices and " + std::to_string(s.count()) + " rows");
  CheckRange(r, stored, s.shape[0], "row index");
}

void CheckCSR(const Reader& r, Stored* s) {
  Stored::Index& indptr = s->index[0];
  std::vector<int64_t>& ptr = indptr.numbers;
  if (s->values_shape.ndim() != 1 || s->shape.ndim() != 2)
    r.Fail("csr values of shape " + s->values_shape.str() + " for an array of shape " + s->shape.str() +
           "; accepted: one and two dimensions");
  // What 1.9.1 made and never filled has no index pointers.
  if (ptr.empty() && s->count() == 0 && s->shape[0] <= static_cast<int64_t>(r.size())) ptr.assign(static_cast<size_t>(s->shape[0]) + 1, 0);
  if (static_cast<int64_t>(ptr.size()) - 1 != s->shape[0]) r.Fail("csr needs one index pointer per row plus one");
  if (s->index[1].shape[0] != s->count())
    r.Fail("csr has " + std::to_string(s->index[1].shape[0]) + " indices and " + std::to_string(s->count()) + " values");
  for (size_t i = 0; i < ptr.size(); ++i)
    if (ptr[i] < (i == 0 ? 0 : ptr[i - 1]) || (i == 0 && ptr[i] != 0) || ptr[i] > s->count())
      r.FailAt(indptr.ByteOf(i), "csr index pointer " + std::to_string(ptr[i]) + " is not in order");
  if (ptr.back() != s->count())
    r.FailAt(indptr.ByteOf(ptr.size() - 1),
             "csr index pointers end with " + std::to_string(ptr.back()) + " and there are " + std::to_string(s->count()) + " values");
  CheckRange(r, s, s->shape[1], "column index");
}

/* The order in which elements [begin, end) have ascending numbers; false where they have it. */
bool SortRun(const std::vector<int64_t>& numbers, size_t begin, size_t end, std::vector<size_t>* order) {
  if (std::is_sorted(numbers.begin() + static_cast<ptrdiff_t>(begin), numbers.begin() + static_cast<ptrdiff_t>(end))) return false;
  order->resize(end - begin);
  std::iota(order->begin(), order->end(), begin);
  std::stable_sort(order->begin(), order->end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  return true;
}

/* Values and last index array in ascending order; returns what is known of them then. */
int Fill(const Reader& r, const Stored& s, SparseParts* parts) {
  const bool csr = parts->storage == StorageType::kCSR;
  const Stored::Index& last = s.index.back();
  const size_t bytes = s.row_bytes();
  char* const values = static_cast<char*>(parts->values.memory.dptr);
  int64_t* const numbers = parts->index[parts->num_index() - 1].data<int64_t>();
  std::vector<size_t> order;
  bool once = true;
  if (csr) std::copy(s.index[0].numbers.begin(), s.index[0].numbers.end(), parts->index[SparseParts::kIndptr].data<int64_t>());
  for (size_t run = 0; run < s.runs(); ++run) {
    const size_t begin = s.begin(run), end = s.begin(run + 1);
    if (begin == end) continue;
    if (s.ascends[run]) {
      std::memcpy(numbers + begin, last.numbers.data() + begin, (end - begin) * sizeof(int64_t));
      if (bytes > 0) std::memcpy(values + begin * bytes, s.values + begin * bytes, (end - begin) * bytes);
      continue;
    }
    const bool moved = SortRun(last.numbers, begin, end, &order);
    for (size_t i = begin; i < end; ++i) {
      const size_t from = moved ? order[i - begin] : i;
      numbers[i] = last.numbers[from];
      if (moved && bytes > 0) std::memcpy(values + i * bytes, s.values + from * bytes, bytes);
      if (i == begin || numbers[i] != numbers[i - 1]) continue;
      once = false;
      if (!csr) r.FailAt(last.ByteOf(from), "row index " + std::to_string(numbers[i]) + " stands twice");
    }
    if (!moved && bytes > 0) std::memcpy(values + begin * bytes, s.values + begin * bytes, (end - begin) * bytes);
  }
  return once ? SparseParts::kAscending : SparseParts::kInBounds;
}

}  // namespace

NDArray ReadSparse(Reader* r, StorageType storage) {
  Stored s = ReadParts(r, storage == StorageType::kCSR ? 2 : 1);
  if (storage == StorageType::kCSR)
    CheckCSR(*r, &s);
  else
    CheckRowSparse(*r, &s);
  try {
    NDArray a = NDArray::Make(TensorType(s.shape, s.dtype, storage), Context::CPU(), true);
    SparseParts* const parts = a.sparse();
    a.chunk()->Allocate();
    parts->Resize(s.count());
    for (int i = 0; i < parts->num_index(); ++i) parts->shown_as[i] = s.index[static_cast<size_t>(i)].dtype;
    parts->state = Fill(*r, s, parts);
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
