// What sparse arrays store: memory of the parts, checks, copies of parts.
#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "base/device/device_interface.h"
#include "engine/change.h"
#include "mxnet/engine.h"
#include "mxnet/ndarray.h"
#include "ndarray/narrow_columns.h"
#include "ndarray/run.h"
#include "ndarray/sparse_copy.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

/* Memory for what the part's shape says. What does not fit any more gets half as much again, so
 * that arrays which grow a little each time do not ask each time. */
void Reserve(SparsePart* part, const Context& ctx, bool grows) {
  const size_t bytes = part->Bytes();
  if (bytes <= part->memory.size) return;
  const size_t wanted = grows && part->memory.size > 0 ? std::max(bytes, part->memory.size + part->memory.size / 2) : bytes;
  StorageHandle fresh = Storage::Get()->Alloc(wanted, ctx);
  Storage::Get()->Free(part->memory);
  part->memory = fresh;
}

Shape ValuesShape(const SparseParts& p, int64_t count) {
  if (p.storage == StorageType::kCSR) return Shape{count};
  Shape shape = p.shape;
  shape[0] = count;
  return shape;
}

/* The same for an operation on a stream. */
void ReserveOnStream(SparsePart* part, const RunContext& run, bool grows) {
  const size_t bytes = part->Bytes();
  if (bytes <= part->memory.size) return;
  const size_t wanted = grows && part->memory.size > 0 ? std::max(bytes, part->memory.size + part->memory.size / 2) : bytes;
  ReplaceOnStream(part, storage::AllocOnStream(wanted, run), run);
}

template <typename Parts>  // SparseParts, const or not
auto& PartOf(Parts* p, int part) {
  const int most = p->num_index() - 1;
  MXNET_CHECK_KIND(part >= -1 && part <= most, Index) << "[NDArray] part " << part << " of a " << StorageTypeName(p->storage)
                                                      << " array; accepted: -1 (values) to " << most << " (indices)";
  return part < 0 ? p->values : p->index[part];
}

}  // namespace

void SparseParts::Resize(int64_t count) {
  DropNarrowColumns(this);
  values.shape = ValuesShape(*this, count);
  Reserve(&values, ctx, true);
  if (storage == StorageType::kRowSparse) {
    index[kRows].shape = Shape{count};
    return Reserve(&index[kRows], ctx, true);
  }
  index[kColumns].shape = Shape{count};
  Reserve(&index[kColumns], ctx, true);
  index[kIndptr].shape = Shape{shape[0] + 1};
  Reserve(&index[kIndptr], ctx, false);
  if (count == 0) FillBytes(index[kIndptr].memory.dptr, ctx, index[kIndptr].Bytes());
}

void ReplaceOnStream(SparsePart* part, const StorageHandle& memory, const RunContext& run) {
  storage::FreeOnStream(part->memory, run);
  part->memory = memory;
}

void ResizeOnStream(SparseParts* parts, int64_t count, const RunContext& run) {
  DropNarrowColumns(parts);
  parts->values.shape = ValuesShape(*parts, count);
  ReserveOnStream(&parts->values, run, true);
  SparsePart* const last = &parts->index[parts->num_index() - 1];
  last->shape = Shape{count};
  ReserveOnStream(last, run, true);
  if (parts->storage != StorageType::kCSR) return;
  parts->index[SparseParts::kIndptr].shape = Shape{parts->shape[0] + 1};
  ReserveOnStream(&parts->index[SparseParts::kIndptr], run, false);
}

void SparseParts::Grow(int64_t count, int64_t keep) {
  DropNarrowColumns(this);
  SparsePart before[2] = {values, index[num_index() - 1]};
  SparsePart* const now[2] = {&values, &index[num_index() - 1]};
  const Shape kept[2] = {ValuesShape(*this, keep), Shape{keep}};
  const Shape wanted[2] = {ValuesShape(*this, count), Shape{count}};
  for (int i = 0; i < 2; ++i) {
    now[i]->shape = wanted[i];
    if (now[i]->Bytes() <= now[i]->memory.size) continue;
    now[i]->memory = Storage::Get()->Alloc(std::max(now[i]->Bytes(), before[i].memory.size + before[i].memory.size / 2), ctx);
    before[i].shape = kept[i];
    if (before[i].Bytes() > 0) std::memcpy(now[i]->memory.dptr, before[i].memory.dptr, before[i].Bytes());
    Storage::Get()->Free(before[i].memory);
  }
}

void SparseParts::Swap(SparseParts* from) {
  DropNarrowColumns(this);
  DropNarrowColumns(from);
  std::swap(values, from->values);
  std::swap(index, from->index);
  const int mine = state;
  state = from->state.load();
  from->state = mine;
}

size_t SparseParts::Bytes() const {
  size_t bytes = values.Bytes();
  for (int i = 0; i < num_index(); ++i) bytes += index[i].Bytes();
  return bytes;
}

size_t SparseParts::Capacity() const {
  size_t bytes = values.memory.size;
  for (int i = 0; i < num_index(); ++i) bytes += index[i].memory.size;
  return bytes;
}

void SparseParts::Free() {
  DropNarrowColumns(this);
  storage::FreeWithVariable(values.memory);
  for (SparsePart& part : index) storage::FreeWithVariable(part.memory);
}

std::unique_ptr<SparseParts> NewParts(const TensorType& type, const Context& ctx) {
  const Shape& shape = type.shape;
  const char* name = StorageTypeName(type.storage);
  MXNET_CHECK_KIND(shape.known(), Value) << "[NDArray] shape " << shape << " is not fully known; every dimension must be >= 0";
  MXNET_CHECK_KIND(type.storage == StorageType::kCSR ? shape.ndim() == 2 : shape.ndim() >= 1, Value)
      << "[NDArray] a " << name << " array of shape " << shape
      << "; accepted: " << (type.storage == StorageType::kCSR ? "two dimensions" : "at least one dimension");
  MXNET_CHECK_KIND(DTypeSize(type.dtype) > 0, Type)
      << "[NDArray] dtype number " << type.dtype << " does not exist; accepted: 0 to " << kNumDTypes - 1;
  int64_t bytes = 0;
  MXNET_CHECK_KIND(!__builtin_mul_overflow(shape.Size(), static_cast<int64_t>(DTypeSize(type.dtype)), &bytes), Value)
      << "[NDArray] shape " << shape << " has more elements than can be counted";
  auto parts = std::make_unique<SparseParts>();
  parts->storage = type.storage;
  parts->ctx = ctx;
  parts->shape = shape;
  parts->values.dtype = type.dtype;
  parts->values.shape = ValuesShape(*parts, 0);
  for (int i = 0; i < parts->num_index(); ++i) parts->index[i].shape = Shape{0};
  return parts;
}

void CopyParts(const SparseParts& from, SparseParts* to, void* stream) {
  if (&from == to) return;
  const auto wait = [&] {
    if (stream && (from.ctx.is_gpu() || to->ctx.is_gpu())) GpuInterface().streams.get()->synchronize(stream);
  };
  if (to->ctx.is_gpu()) wait();
  to->Resize(from.stored());
  const auto copy = [&](const SparsePart& source, SparsePart* target) {
    target->shape = source.shape;
    Reserve(target, to->ctx, false);  // what a caller filled in may be longer than it has to be
    if (source.dtype == target->dtype)
      return CopyBetween(target->memory.dptr, to->ctx, source.memory.dptr, from.ctx, source.Bytes(), stream);
    std::vector<char> read(from.ctx.is_gpu() ? source.Bytes() : 0), made(to->ctx.is_gpu() ? target->Bytes() : 0);
    const Context host = Context::CPU(0);
    if (!read.empty()) {
      CopyBetween(read.data(), host, source.memory.dptr, from.ctx, source.Bytes(), stream);
      wait();
    }
    ConvertElements(read.empty() ? source.memory.dptr : read.data(), source.dtype, made.empty() ? target->memory.dptr : made.data(),
                    target->dtype, source.Size());
    if (!made.empty()) {
      CopyBetween(target->memory.dptr, to->ctx, made.data(), host, target->Bytes(), stream);
      wait();
    }
  };
  copy(from.values, &to->values);
  for (int i = 0; i < from.num_index(); ++i) copy(from.index[i], &to->index[i]);
  // Hosts read, free and exchange parts in the operations that follow, so nothing may be under way.
  wait();
  to->state = from.state.load();
}

void WhileUnchanged(const NDArray& array, const std::function<void()>& look, const char* name) {
  array.WaitToRead();
  Engine* const engine = Engine::Get();
  Var* const v = array.var();
  std::exception_ptr error;  // the look's, which is not the array's
  const auto run = [&] {
    try {
      look();
    } catch (...) {
      error = std::current_exception();
    }
  };
  if (engine->TryAcquire(&v, 1, nullptr, 0)) {
    run();
    engine->Release(&v, 1, nullptr, 0);
  } else {
    struct Done {  // what the look writes, for the engine
      Var* const var = Engine::Get()->NewVariable();
      ~Done() { Engine::Get()->DeleteVariable({}, Context::CPU(), var); }
    } done;
    engine->PushSync([&run](RunContext) { run(); }, Context::CPU(), {v}, {done.var}, FnProperty::kNormal, 0, name);
    engine->WaitForVar(done.var);
  }
  if (error) std::rethrow_exception(error);
}

void LookAtParts(const NDArray& array, const std::function<void(const SparseParts&)>& look, const char* name) {
  array.chunk()->Allocate();
  if (array.ctx().is_gpu()) return LookAtParts(array.Copy(Context::CPU()), look, name);
  WhileUnchanged(
      array, [&] { look(*array.sparse()); }, name);
}

namespace {

/* The copy stays on the GPU. */
NDArray CopyOfPartOnDevice(const NDArray& array, int part) {
  array.chunk()->Allocate();
  array.WaitToRead();
  const SparsePart& source = PartOf(array.sparse(), part);
  NDArray out(source.shape, array.ctx(), source.dtype);
  const TBlob to = out.data();
  Engine::Get()->PushSync(
      [parts = array.sparse(), part, to](RunContext run) {
        const SparsePart& p = PartOf(parts, part);
        MXNET_CHECK_KIND(p.shape == to.shape, Value) << "[NDArray] the array was changed while a part of it was copied";
        CopyBetween(to.dptr, to.ctx, p.memory.dptr, parts->ctx, p.Bytes(), run.stream);
      },
      array.ctx().execution(), {array.var()}, {out.var()}, FnProperty::kNormal, 0, "copy_of_part");
  out.WaitToRead();
  return out;
}

}  // namespace

NDArray CopyOfPart(const NDArray& array, int part) {
  MXNET_CHECK_KIND(array.is_sparse(), Value) << "[NDArray] a part of a dense array; accepted: row_sparse and csr arrays";
  if (array.ctx().is_gpu()) return CopyOfPartOnDevice(array, part);
  NDArray out;
  const auto copy = [&](const SparseParts& parts) {
    const SparsePart& from = PartOf(&parts, part);
    out = NDArray(from.shape, array.ctx(), part < 0 ? from.dtype : parts.shown_as[part]);
    const TBlob to = out.data();
    if (to.dtype != from.dtype)
      ConvertElements(from.memory.dptr, from.dtype, to.dptr, to.dtype, from.Size());
    else if (from.Bytes() > 0)
      std::memcpy(to.dptr, from.memory.dptr, from.Bytes());
  };
  LookAtParts(array, copy, "copy_of_part");
  return out;
}

void SetPart(const NDArray& array, int part, const NDArray& from) {
  MXNET_CHECK_KIND(array.is_sparse() && !from.is_sparse(), Value) << "[NDArray] parts of sparse arrays are set from dense arrays";
  array.chunk()->Allocate();
  SparseParts* const parts = array.sparse();
  PartOf(parts, part);  // is there one?
  const int ndim = part < 0 ? ValuesShape(*parts, 0).ndim() : 1;
  MXNET_CHECK_KIND(from.shape().ndim() == ndim, Value)
      << "[NDArray] part " << part << " of a " << StorageTypeName(parts->storage) << " array of shape " << parts->shape
      << " set from shape " << from.shape() << "; accepted: " << ndim << " dimensions";
  if (part < 0 && parts->storage == StorageType::kRowSparse)
    for (int i = 1; i < from.shape().ndim(); ++i)
      MXNET_CHECK_KIND(from.shape()[i] == parts->shape[i], Value)
          << "[NDArray] rows of shape " << from.shape() << " for an array of shape " << parts->shape;
  MXNET_CHECK_KIND(part < 0 || (!IsFloating(from.dtype()) && from.dtype() != kBool), Type)
      << "[NDArray] index part " << part << " set from " << DTypeName(from.dtype()) << "; accepted: integers";
  const TBlob source = from.data();
  Var* const v = array.var();
  std::vector<Var*> reads = {from.var(), v};  // the other parts stay
  Engine::Get()->PushSync(
      [parts, part, source](RunContext run) {
        SparsePart& p = PartOf(parts, part);
        DropNarrowColumns(parts);
        p.shape = source.shape;
        parts->state = SparseParts::kUnknown;
        if (parts->ctx.is_gpu() && run.stream) GpuInterface().streams.get()->synchronize(run.stream);  // who read what goes
        Reserve(&p, parts->ctx, false);
        if (source.dtype == p.dtype)
          CopyBetween(p.memory.dptr, parts->ctx, source.dptr, source.ctx, p.Bytes(), run.stream);
        else if (!parts->ctx.is_gpu() && !source.ctx.is_gpu())
          ConvertElements(source.dptr, source.dtype, p.memory.dptr, p.dtype, source.Size());
        else
          MXNET_THROW(Type) << "[NDArray] part " << part << " is " << DTypeName(p.dtype) << ", given as " << DTypeName(source.dtype);
      },
      array.ctx().execution(), reads, {v}, FnProperty::kNormal, 0, "set_part");
  array.WaitToRead();
}

}  // namespace mxnet
