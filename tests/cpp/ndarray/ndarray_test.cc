// NDArray: views, copies, conversions, containers under corruption, DLPack, and all of it from
// several threads.
#include "mxnet/ndarray.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <thread>

#include "base/half.h"
#include "mxnet/engine.h"
#include "ndarray/dlpack.h"

using namespace mxnet;  // NOLINT

namespace {

template <typename T>
NDArray Array(const Shape& shape, const std::vector<T>& values, int dtype) {
  NDArray a(shape, Context::CPU(), dtype);
  a.CopyBytesFrom(values.data(), values.size() * sizeof(T));
  return a;
}

template <typename T>
std::vector<T> Values(const NDArray& a) {
  std::vector<T> values(static_cast<size_t>(a.shape().Size()));
  a.CopyBytesTo(values.data(), values.size() * sizeof(T));
  return values;
}

std::vector<float> Range(int n) {
  std::vector<float> v(n);
  for (int i = 0; i < n; ++i) v[i] = static_cast<float>(i);
  return v;
}

template <typename Fn>
Error::Kind KindOf(Fn fn) {
  try {
    fn();
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "no error";
  return Error::Kind::kGeneric;
}

std::string Bytes(const NDArray& a) {
  std::string s(static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()), '\0');
  a.CopyBytesTo(&s[0], s.size());
  return s;
}

}  // namespace

TEST(NDArrayView, SharesMemoryAndVariable) {
  NDArray a = Array(Shape{4, 3}, Range(12), kFloat32);
  NDArray rows = a.Slice(1, 3), row = a.At(2), flat = a.Reshape(Shape{12});
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(row.shape(), (Shape{3}));
  EXPECT_EQ(row.var(), a.var());
  EXPECT_EQ(rows.byte_offset(), 12u);
  const uint64_t version = a.version();
  const std::vector<float> nines = {9, 9, 9};
  row.CopyBytesFrom(nines.data(), 12);
  EXPECT_GT(a.version(), version);
  EXPECT_EQ(Values<float>(a), (std::vector<float>{0, 1, 2, 3, 4, 5, 9, 9, 9, 9, 10, 11}));
  EXPECT_EQ(Values<float>(rows), (std::vector<float>{3, 4, 5, 9, 9, 9}));
  EXPECT_EQ(Values<float>(flat.Slice(5, 7)), (std::vector<float>{5, 9}));
  EXPECT_EQ(Values<float>(rows.At(1).Slice(1, 2)), (std::vector<float>{9}));
}

TEST(NDArrayView, OutlivesWhatItWasTakenFrom) {
  NDArray view;
  {
    NDArray a = Array(Shape{1000}, Range(1000), kFloat32);
    view = a.Slice(998, 1000);
  }
  EXPECT_EQ(Values<float>(view), (std::vector<float>{998, 999}));
}

TEST(NDArrayView, RefusesWhatIsOutOfRange) {
  NDArray a(Shape{4, 3}, Context::CPU());
  EXPECT_EQ(KindOf([&] { a.Slice(-1, 2); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.Slice(3, 2); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.Slice(0, 5); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.At(4); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.At(-1); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.At(0).At(0).At(0); }), Error::Kind::kIndex);
  EXPECT_EQ(KindOf([&] { a.Reshape(Shape{5}); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([&] { a.Reshape(Shape{-1}); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([] { NDArray().Reshape(Shape{1}); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([] { NDArray(Shape{int64_t{1} << 40, int64_t{1} << 40}, Context::CPU()); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([] { NDArray(Shape{2}, Context::CPU(), 99); }), Error::Kind::kType);
  char byte = 0;
  EXPECT_EQ(KindOf([&] { a.CopyBytesFrom(&byte, 1); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([&] { a.CopyBytesTo(&byte, 1); }), Error::Kind::kValue);
  EXPECT_EQ(KindOf([&] { CopyFromTo(a, a.Slice(0, 2)); }), Error::Kind::kValue);
}

TEST(NDArrayView, ReshapeCodes) {
  struct Case {
    Shape from;
    std::vector<int64_t> codes;
    bool reverse;
    Shape to;
  };
  const Case cases[] = {
      {{2, 3, 4}, {4, 0, 2}, false, {4, 3, 2}},
      {{2, 3, 4}, {2, 0, 0}, false, {2, 3, 4}},
      {{2, 3, 4}, {6, 1, -1}, false, {6, 1, 4}},
      {{2, 3, 4}, {-2}, false, {2, 3, 4}},
      {{2, 3, 4}, {-2, 1, 1}, false, {2, 3, 4, 1, 1}},
      {{2, 3, 4}, {-3, 4}, false, {6, 4}},
      {{2, 3, 4, 5}, {-3, -3}, false, {6, 20}},
      {{2, 3, 4}, {0, -3}, false, {2, 12}},
      {{2, 3, 4}, {-4, 1, 2, -2}, false, {1, 2, 3, 4}},
      {{2, 3, 4}, {2, -4, -1, 3, -2}, false, {2, 1, 3, 4}},
      {{10, 5, 4}, {-1, 0}, false, {40, 5}},
      {{10, 5, 4}, {-1, 0}, true, {50, 4}},
      {{1}, {}, false, Shape(0)},
  };
  for (const Case& c : cases)
    EXPECT_EQ(NDArray::InferReshape(c.from, c.codes, c.reverse), c.to) << c.from << " " << Shape(c.codes) << c.reverse;
  const std::pair<Shape, std::vector<int64_t>> bad[] = {
      {{2, 3}, {-1, -1}},  {{2, 3}, {4}}, {{2, 3}, {-5}},           {{2, 3}, {-4, 1}}, {{2, 3}, {-4, -1, -1, 3}},
      {{2, 3}, {0, 0, 0}}, {{2}, {-3}},   {{2, 3}, {-4, 5, -1, 3}}, {{}, {-4, 1, 1}}};
  for (const auto& b : bad)
    EXPECT_EQ(KindOf([&] { NDArray::InferReshape(b.first, b.second, false); }), Error::Kind::kValue) << b.first << " " << Shape(b.second);
}

// Every pair of dtypes on numbers that all of them hold; then the edges of the half formats and of
// integers.
TEST(NDArrayReshapeAndAlloc, GrowsAndShrinksInPlace) {
  NDArray a(Shape({1}), Context::CPU(), kInt32);
  Var* const var = a.var();
  const NDArray view = a;
  a.ReshapeAndAlloc(Shape({1000, 50}));
  std::vector<int32_t> values(50000, 7);
  a.SyncCopyFromCPU(values.data(), values.size());
  EXPECT_EQ(a.var(), var);
  EXPECT_EQ(view.data().dptr<int32_t>()[0], 7) << "views share the new memory";
  const void* const lies = a.data().dptr<void>();
  a.ReshapeAndAlloc(Shape({2}));
  EXPECT_EQ(a.data().dptr<void>(), lies) << "less needs no other memory";
  a.ReshapeAndAlloc(Shape({4, 0}));
  EXPECT_EQ(a.shape(), Shape({4, 0}));
  NDArray later(Shape({3}), Context::CPU(), kFloat32, true);
  later.ReshapeAndAlloc(Shape({70}));
  EXPECT_TRUE(later.delayed());
  EXPECT_EQ(later.chunk()->bytes, 280u);
}

TEST(NDArrayReshapeAndAlloc, RefusesWhatHasNoMemoryOfItsOwn) {
  NDArray a(Shape({4}), Context::CPU());
  EXPECT_THROW(a.Slice(1, 2).ReshapeAndAlloc(Shape({4})), Error);
  a.Slice(1, 2).ReshapeAndAlloc(Shape({3}));
  float values[2] = {1, 2};
  NDArray borrowed(TBlob{values, Shape({2}), kFloat32, Context::CPU()}, nullptr);
  EXPECT_THROW(borrowed.ReshapeAndAlloc(Shape({3})), Error);
  NDArray sparse = NDArray::Make(TensorType(Shape({2, 2}), kFloat32, StorageType::kCSR), Context::CPU());
  EXPECT_THROW(sparse.ReshapeAndAlloc(Shape({3})), Error);
  EXPECT_THROW(NDArray().ReshapeAndAlloc(Shape({3})), Error);
}

TEST(NDArrayConvert, EveryPairOfDTypes) {
  const std::vector<double> numbers = {0, 1, 2, 3, 5, 8, 64, 100, 127};
  const int64_t n = static_cast<int64_t>(numbers.size());
  for (int from = 0; from < kNumDTypes; ++from) {
    std::vector<char> source(n * DTypeSize(from));
    ConvertElements(numbers.data(), kFloat64, source.data(), from, n);
    for (int to = 0; to < kNumDTypes; ++to) {
      std::vector<char> there(n * DTypeSize(to));
      std::vector<double> back(n);
      ConvertElements(source.data(), from, there.data(), to, n);
      ConvertElements(there.data(), to, back.data(), kFloat64, n);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(back[i], from == kBool || to == kBool ? static_cast<double>(numbers[i] != 0) : numbers[i])
            << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

TEST(NDArrayConvert, Edges) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {65504.f, 65520.f, 65519.f,       -1e30f,           6e-8f,
                                     2e-8f,   inf,     std::nanf(""), 1.f + 1.f / 2048, 1.f + 3.f / 2048};
  std::vector<float16> half(values.size());
  std::vector<float> back(values.size());
  ConvertElements(values.data(), kFloat32, half.data(), kFloat16, values.size());
  ConvertElements(half.data(), kFloat16, back.data(), kFloat32, values.size());
  const std::vector<float> expected = {65504.f, inf, 65504.f, -inf, 5.9604645e-8f, 0.f, inf, 0, 1.f, 1.f + 2.f / 1024};
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 7)
      EXPECT_TRUE(std::isnan(back[i]));
    else
      EXPECT_EQ(back[i], expected[i]) << values[i];
  }
  const std::vector<double> wide = {-1.0, 300.0, 1e30, -1e30, std::nan(""), 1.9, -1.9};
  std::vector<uint8_t> bytes(wide.size());
  std::vector<int32_t> ints(wide.size());
  ConvertElements(wide.data(), kFloat64, bytes.data(), kUint8, wide.size());
  ConvertElements(wide.data(), kFloat64, ints.data(), kInt32, wide.size());
  EXPECT_EQ(bytes[0], 255);
  EXPECT_EQ(bytes[1], 44);
  EXPECT_EQ(ints[5], 1);
  EXPECT_EQ(ints[6], -1);
}

TEST(NDArrayCopy, AcrossDTypesAndOverlappingViews) {
  NDArray a = Array(Shape{6}, Range(6), kFloat32);
  NDArray wide(Shape{6}, Context::CPU(), kFloat64);
  CopyFromTo(a, wide);
  EXPECT_EQ(Values<double>(wide), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  CopyFromTo(a.Slice(0, 4), a.Slice(2, 6));  // as if through a temporary
  EXPECT_EQ(Values<float>(a), (std::vector<float>{0, 1, 0, 1, 2, 3}));
  NDArray pinned = a.Copy(Context::CPUPinned());
  EXPECT_EQ(pinned.ctx(), Context::CPUPinned());
  EXPECT_EQ(Values<float>(pinned), Values<float>(a));
}

TEST(NDArrayCopy, DelayedAllocationTakesNoMemoryUntilUsed) {
  const uint64_t before = Storage::Get()->Stats(Context::CPU()).used_bytes;
  NDArray a(Shape{1 << 20}, Context::CPU(), kFloat32, true);
  EXPECT_EQ(Storage::Get()->Stats(Context::CPU()).used_bytes, before);
  a.data();
  EXPECT_GE(Storage::Get()->Stats(Context::CPU()).used_bytes, before + (4u << 20));
}

// Threads copy between shared arrays and their views at random; each finds in the end what a
// lock-step execution gives for its own array.
TEST(NDArrayCopy, FromSeveralThreads) {
  constexpr int kThreads = 4, kRows = 64, kRounds = 300;
  NDArray shared = Array(Shape{kRows, 256}, Range(kRows * 256), kFloat32);
  std::vector<std::thread> threads;
  std::vector<int> wrong(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      NDArray mine(Shape{256}, Context::CPU()), half(Shape{256}, Context::CPU(), kFloat64);
      for (int i = 0; i < kRounds; ++i) {
        const int row = static_cast<int>(random() % kRows);
        NDArray view = shared.At(row);
        CopyFromTo(view, mine);
        CopyFromTo(mine, half);
        CopyFromTo(half, view);  // the same numbers again: readers of the row see no difference
        const std::vector<double> got = Values<double>(half);
        for (int j = 0; j < 256; ++j) wrong[t] += got[j] != row * 256 + j;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
  EXPECT_EQ(Values<float>(shared), Range(kRows * 256));
}

// ---- containers

namespace {

std::vector<NDArray> EveryDType() {
  std::vector<NDArray> arrays;
  for (int d = 0; d < kNumDTypes; ++d) {
    NDArray a(Shape{2, 3}, Context::CPU(), d);
    std::string bytes(6 * DTypeSize(d), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(d == kBool ? i % 2 : i * 7 + d);
    a.CopyBytesFrom(bytes.data(), bytes.size());
    arrays.push_back(a);
  }
  arrays.push_back(Array(Shape(0), std::vector<float>{3.5f}, kFloat32));
  arrays.push_back(NDArray(Shape{0, 4}, Context::CPU()));
  arrays.push_back(NDArray());
  return arrays;
}

std::string FileOf(const std::vector<NDArray>& arrays, const std::vector<std::string>& names) {
  const std::string path = testing::TempDir() + "/ndarray_test." + std::to_string(getpid()) + ".params";
  SaveNDArrays(path, arrays, names);
  std::ifstream f(path, std::ios::binary);
  std::string data((std::istreambuf_iterator<char>(f)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  return data;
}

template <typename T>
void Put(std::string* s, T v) {
  s->append(reinterpret_cast<const char*>(&v), sizeof(T));
}

/* A row_sparse array of shape (5, 2) that stores rows 1 and 3, as 1.x writes it. */
std::string SparseBytes() {
  std::string s;
  Put<uint32_t>(&s, 0xF993FAC9);
  Put<int32_t>(&s, 1);
  Put<int32_t>(&s, 2);
  Put<int64_t>(&s, 2);
  Put<int64_t>(&s, 2);
  Put<int32_t>(&s, 2);
  Put<int64_t>(&s, 5);
  Put<int64_t>(&s, 2);
  Put<int32_t>(&s, 1);
  Put<int32_t>(&s, 0);
  Put<int32_t>(&s, kFloat32);
  Put<int32_t>(&s, kInt64);
  Put<int32_t>(&s, 1);
  Put<int64_t>(&s, 2);
  for (float v : {1.f, 2.f, 3.f, 4.f}) Put<float>(&s, v);
  for (int64_t v : {1, 3}) Put<int64_t>(&s, v);
  return s;
}

}  // namespace

TEST(Container, RoundTrip) {
  const std::vector<NDArray> arrays = EveryDType();
  std::vector<std::string> names;
  for (size_t i = 0; i < arrays.size(); ++i) names.push_back("arg:layer" + std::to_string(i));
  const std::string file = FileOf(arrays, names);
  std::vector<NDArray> loaded;
  std::vector<std::string> loaded_names;
  LoadNDArrays(file.data(), file.size(), &loaded, &loaded_names);
  EXPECT_EQ(loaded_names, names);
  ASSERT_EQ(loaded.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    ASSERT_EQ(loaded[i].is_none(), arrays[i].is_none()) << i;
    if (arrays[i].is_none()) continue;
    EXPECT_EQ(loaded[i].shape(), arrays[i].shape());
    EXPECT_EQ(loaded[i].dtype(), arrays[i].dtype());
    EXPECT_EQ(Bytes(loaded[i]), Bytes(arrays[i]));
    const std::string raw = SaveNDArrayRaw(arrays[i]);
    EXPECT_EQ(Bytes(LoadNDArrayRaw(raw.data(), raw.size())), Bytes(arrays[i]));
  }
}

TEST(Container, OlderLayoutsAndSparse) {
  std::string v1;
  Put<uint32_t>(&v1, 0xF993FAC8);
  Put<int32_t>(&v1, 1);
  Put<int64_t>(&v1, 2);
  std::string v0;
  Put<uint32_t>(&v0, 1);
  Put<uint32_t>(&v0, 2);
  for (std::string* s : {&v1, &v0}) {
    Put<int32_t>(s, 2);  // saved on a GPU that this machine does not have
    Put<int32_t>(s, 7);
    Put<int32_t>(s, kInt32);
    Put<int32_t>(s, 41);
    Put<int32_t>(s, 42);
    NDArray a = LoadNDArrayRaw(s->data(), s->size());
    EXPECT_EQ(Values<int32_t>(a), (std::vector<int32_t>{41, 42}));
    EXPECT_EQ(a.ctx(), Context::CPU());
  }
  const std::string sparse = SparseBytes();
  const NDArray rows = LoadNDArrayRaw(sparse.data(), sparse.size());
  EXPECT_EQ(rows.storage_type(), StorageType::kRowSparse);
  EXPECT_EQ(Values<float>(CopyOfPart(rows, -1)), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Values<int64_t>(CopyOfPart(rows, SparseParts::kRows)), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(SaveNDArrayRaw(rows), sparse);
}

// A file may be wrong in any way: it loads, or it is refused with the byte offset. Memory stays
// near what the file could fill.
TEST(Container, FiveThousandCorruptions) {
  const std::string good = FileOf(EveryDType(), {});
  const std::string sparse = SparseBytes();
  std::mt19937 random(42);
  int refused = 0;
  Storage::Get()->ReleaseAll(Context::CPU());
  Storage::Get()->ResetPeak(Context::CPU());
  const uint64_t before = Storage::Get()->Stats(Context::CPU()).used_bytes;
  for (int i = 0; i < 5000; ++i) {
    const bool one = i % 4 == 3;
    std::string bad = one ? sparse : good;
    switch (random() % 4) {
      case 0: bad.resize(random() % bad.size()); break;
      case 1:
        for (int k = 0; k < 3; ++k) bad[random() % bad.size()] ^= static_cast<char>(1u << random() % 8);
        break;
      case 2: bad[random() % bad.size()] = static_cast<char>(random()); break;
      default: {
        const int64_t odd[] = {-1, 0, int64_t{1} << 62, INT64_MIN, 0x7fffffff, int64_t{1} << 33};
        std::memcpy(&bad[random() % (bad.size() - 8)], &odd[random() % 6], 8);
      }
    }
    try {
      std::vector<NDArray> arrays;
      std::vector<std::string> names;
      if (one)
        LoadNDArrayRaw(bad.data(), bad.size());
      else
        LoadNDArrays(bad.data(), bad.size(), &arrays, &names);
    } catch (const Error& e) {
      ++refused;
      ASSERT_EQ(e.kind(), Error::Kind::kIO) << e.what();
      ASSERT_NE(std::string(e.what()).find("at byte"), std::string::npos) << e.what();
    }
  }
  EXPECT_GT(refused, 2000);
  EXPECT_LT(Storage::Get()->Stats(Context::CPU()).peak_used_bytes, before + (uint64_t{256} << 20));
}

TEST(Container, FilesThatCannotBeReadOrWritten) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  EXPECT_EQ(KindOf([&] { LoadNDArrays("/nonexistent/file.params", &arrays, &names); }), Error::Kind::kIO);
  EXPECT_EQ(KindOf([&] { LoadNDArrays(testing::TempDir(), &arrays, &names); }), Error::Kind::kIO);
  EXPECT_EQ(KindOf([&] { SaveNDArrays("/nonexistent/file.params", {}, {}); }), Error::Kind::kIO);
  EXPECT_EQ(KindOf([&] { SaveNDArrays(testing::TempDir() + "/x", {NDArray()}, {"a", "b"}); }), Error::Kind::kValue);
}

// ---- DLPack

namespace {

struct Foreign {
  std::vector<float> data = Range(6);
  std::vector<int64_t> shape{2, 3}, strides{3, 1};
  int deleted = 0;
  DLManagedTensor tensor{};
  Foreign() {
    tensor.dl_tensor = {data.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
};

}  // namespace

TEST(DLPack, TheDeleterRunsOnceWhenTheLastViewIsGone) {
  for (bool transient : {false, true}) {
    Foreign foreign;
    {
      NDArray view;
      {
        NDArray a = FromDLPack(&foreign.tensor, transient);
        EXPECT_EQ(a.data().dptr<void>(), foreign.data.data());
        view = a.Slice(1, 2);
      }
      const std::vector<float> sevens = {7, 7, 7};
      view.CopyBytesFrom(sevens.data(), 12);
      EXPECT_EQ(foreign.deleted, 0);
    }
    Engine::Get()->WaitForAll();
    EXPECT_EQ(foreign.deleted, 1);
    EXPECT_EQ(foreign.data, (std::vector<float>{0, 1, 2, 7, 7, 7}));
  }
}

TEST(DLPack, RefusesWhatItCannotShareAndLeavesItToItsOwner) {
  auto refused = [](void (*spoil)(DLTensor*), Error::Kind kind) {
    Foreign foreign;
    spoil(&foreign.tensor.dl_tensor);
    EXPECT_EQ(KindOf([&] { FromDLPack(&foreign.tensor, false); }), kind);
    EXPECT_EQ(foreign.deleted, 0);
  };
  refused([](DLTensor* t) { t->strides[0] = 1, t->strides[1] = 2; }, Error::Kind::kValue);
  refused([](DLTensor* t) { t->dtype.lanes = 4; }, Error::Kind::kType);
  refused([](DLTensor* t) { t->dtype.bits = 128; }, Error::Kind::kType);
  refused([](DLTensor* t) { t->device.device_type = 9; }, Error::Kind::kValue);
  refused([](DLTensor* t) { t->ndim = -3; }, Error::Kind::kValue);
  refused([](DLTensor* t) { t->shape[0] = -2; }, Error::Kind::kValue);
  EXPECT_EQ(KindOf([] { FromDLPack(nullptr, false); }), Error::Kind::kValue);
}

TEST(DLPack, ExportsKeepTheMemoryAliveAndReturn) {
  for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
    DLManagedTensor* out;
    {
      NDArray a(Shape{4, 2}, Context::CPU(), dtype);
      std::string bytes(8 * DTypeSize(dtype), '\1');
      a.CopyBytesFrom(bytes.data(), bytes.size());
      out = ToDLPack(a.Slice(1, 3));
    }
    EXPECT_EQ(out->dl_tensor.ndim, 2);
    EXPECT_EQ(out->dl_tensor.shape[0], 2);
    NDArray back = FromDLPack(out, false);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(Bytes(back), std::string(4 * DTypeSize(dtype), '\1'));
  }
  EXPECT_EQ(KindOf([] { ToDLPack(NDArray()); }), Error::Kind::kValue);
}

TEST(DLPack, AnExportWaitsForPendingWork) {
  NDArray a = Array(Shape{2}, Range(2), kFloat32);
  const TBlob blob = a.data();
  Engine::Get()->PushSync(
      [blob](RunContext) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        blob.data<float>()[0] = 5;
      },
      Context::CPU(), {}, {a.var()});
  DLManagedTensor* out = ToDLPack(a);
  EXPECT_EQ(static_cast<float*>(out->dl_tensor.data)[0], 5);
  out->deleter(out);
}
