// .params containers of every version, dense and sparse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "fuzz.h"
#include "mxnet/error.h"
#include "mxnet/ndarray.h"

using namespace mxnet;  // NOLINT

namespace {

/* Writes words of any size one after another. */
class Bytes {
 public:
  template <typename T>
  Bytes& Add(T v) {
    data_.append(reinterpret_cast<const char*>(&v), sizeof(T));
    return *this;
  }
  Bytes& Text(const std::string& s) {
    Add<uint64_t>(s.size());
    data_ += s;
    return *this;
  }
  Bytes& Raw(const std::string& s) {
    data_ += s;
    return *this;
  }
  const std::string& str() const { return data_; }

 private:
  std::string data_;
};

std::string List(const std::vector<std::string>& arrays, const std::vector<std::string>& names) {
  Bytes b;
  b.Add<uint64_t>(0x112).Add<uint64_t>(0).Add<uint64_t>(arrays.size());
  for (const auto& a : arrays) b.Raw(a);
  b.Add<uint64_t>(names.size());
  for (const auto& n : names) b.Text(n);
  return b.str();
}

const std::string kValues(24, '\x3f');  // six float32

std::string Oldest() {
  return Bytes().Add<uint32_t>(2).Add<uint32_t>(2).Add<uint32_t>(3).Add<int32_t>(1).Add<int32_t>(0).Add<int32_t>(0).Raw(kValues).str();
}
std::string V1() {
  return Bytes()
      .Add<uint32_t>(0xF993FAC8)
      .Add<int32_t>(2)
      .Add<int64_t>(2)
      .Add<int64_t>(3)
      .Add<int32_t>(1)
      .Add<int32_t>(0)
      .Add<int32_t>(0)
      .Raw(kValues)
      .str();
}
std::string V2(uint32_t magic = 0xF993FAC9) {
  return Bytes()
      .Add<uint32_t>(magic)
      .Add<int32_t>(0)
      .Add<int32_t>(2)
      .Add<int64_t>(2)
      .Add<int64_t>(3)
      .Add<int32_t>(1)
      .Add<int32_t>(0)
      .Add<int32_t>(0)
      .Raw(kValues)
      .str();
}
std::string V3Scalar() {
  return Bytes()
      .Add<uint32_t>(0xF993FACA)
      .Add<int32_t>(0)
      .Add<int32_t>(0)
      .Add<int32_t>(1)
      .Add<int32_t>(0)
      .Add<int32_t>(6)
      .Add<int64_t>(5)
      .str();
}
std::string RowSparse() {
  return Bytes()
      .Add<uint32_t>(0xF993FAC9)
      .Add<int32_t>(1)
      .Add<int32_t>(2)
      .Add<int64_t>(2)
      .Add<int64_t>(3)
      .Add<int32_t>(2)
      .Add<int64_t>(9)
      .Add<int64_t>(3)
      .Add<int32_t>(1)
      .Add<int32_t>(0)
      .Add<int32_t>(0)
      .Add<int32_t>(6)
      .Add<int32_t>(1)
      .Add<int64_t>(2)
      .Raw(kValues)
      .Add<int64_t>(1)
      .Add<int64_t>(7)
      .str();
}
std::string Csr() {
  return Bytes()
      .Add<uint32_t>(0xF993FAC9)
      .Add<int32_t>(2)
      .Add<int32_t>(1)
      .Add<int64_t>(6)
      .Add<int32_t>(2)
      .Add<int64_t>(3)
      .Add<int64_t>(4)
      .Add<int32_t>(1)
      .Add<int32_t>(0)
      .Add<int32_t>(0)
      .Add<int32_t>(6)
      .Add<int32_t>(1)
      .Add<int64_t>(4)
      .Add<int32_t>(6)
      .Add<int32_t>(1)
      .Add<int64_t>(6)
      .Raw(kValues)
      .Add<int64_t>(0)
      .Add<int64_t>(2)
      .Add<int64_t>(4)
      .Add<int64_t>(6)
      .Add<int64_t>(0)
      .Add<int64_t>(1)
      .Add<int64_t>(1)
      .Add<int64_t>(2)
      .Add<int64_t>(0)
      .Add<int64_t>(3)
      .str();
}

std::vector<std::string> Corpus() {
  return {
      List({Oldest(), Oldest()}, {"arg:a", "arg:b"}), List({V1()}, {"aux:x"}), List({V2(), V2(0xF993FACA), V3Scalar()}, {"a", "b", "c"}),
      List({RowSparse(), Csr()}, {"r", "c"}),         List({V2(), V2()}, {}),  fuzz::Data("gluon_net-0000.params")};
}

std::vector<std::string> Tokens() {
  return {Bytes().Add<uint32_t>(0xF993FAC8).str(),
          Bytes().Add<uint32_t>(0xF993FAC9).str(),
          Bytes().Add<uint32_t>(0xF993FACA).str(),
          Bytes().Add<uint64_t>(0x112).str(),
          Bytes().Add<int32_t>(-1).str(),
          Bytes().Add<int64_t>(-1).str(),
          Bytes().Add<int64_t>(int64_t{1} << 40).str(),
          Bytes().Add<int64_t>(INT64_MAX).str(),
          Bytes().Add<int32_t>(12).str(),
          V2(),
          RowSparse(),
          Csr()};
}

/* What is loaded can be used: parts of sparse arrays belong together, and are written as they
 * are. */
void Use(const NDArray& a) {
  if (a.is_none()) return;
  a.WaitToRead();
  if (!a.is_sparse()) return;
  CheckSparse(a, false);
  const std::string bytes = SaveNDArrayRaw(a);
  if (SaveNDArrayRaw(LoadNDArrayRaw(bytes.data(), bytes.size())) != bytes) std::abort();
}

void Read(const std::string& data) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(data.data(), data.size(), &arrays, &names);
  for (const auto& a : arrays) Use(a);
}

TEST(ParamsFuzz, WellFormedOnesLoad) {
  for (const auto& c : Corpus()) {
    std::vector<NDArray> arrays;
    std::vector<std::string> names;
    LoadNDArrays(c.data(), c.size(), &arrays, &names);
    EXPECT_FALSE(arrays.empty());
  }
}

TEST(ParamsFuzz, DamagedContainers) {
  // a page of the pool for each array, or part of one, of a few bytes
  fuzz::Mutator mutator(2, Corpus(), Tokens());
  fuzz::Run(&mutator, 6000, {1024, 1 << 20}, Read);
}

TEST(ParamsFuzz, RawArrays) {
  fuzz::Mutator mutator(4, {Oldest(), V1(), V2(), V3Scalar(), RowSparse(), Csr()}, Tokens());
  fuzz::Run(&mutator, 4000, {1024, 1 << 20}, [](const std::string& data) { Use(LoadNDArrayRaw(data.data(), data.size())); });
}

TEST(ParamsFuzz, FilesThatEndEarly) {
  const std::string path = ::testing::TempDir() + "fuzz_params_" + std::to_string(getpid());
  for (const std::string& whole : Corpus()) {
    for (size_t n = 0; n < whole.size(); n += whole.size() / 20 + 1) {
      std::ofstream(path, std::ios::binary) << whole.substr(0, n);
      std::vector<NDArray> arrays;
      std::vector<std::string> names;
      EXPECT_THROW(LoadNDArrays(path, &arrays, &names), Error) << n << " bytes of " << whole.size();
    }
  }
  std::remove(path.c_str());
}

}  // namespace
