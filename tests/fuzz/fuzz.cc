#include "fuzz.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

#include "mxnet/error.h"
#include "mxnet/storage.h"

namespace {

std::atomic<int64_t> held{0}, peak{0};
int64_t held_at_reset = 0;

void* Counted(size_t bytes, size_t alignment, bool throws = true) {
  void* p =
      alignment > 16 ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment) : std::malloc(bytes ? bytes : 1);
  if (!p) {
    if (throws) throw std::bad_alloc();
    return nullptr;
  }
  const int64_t now =
      held.fetch_add(static_cast<int64_t>(malloc_usable_size(p)), std::memory_order_relaxed) + static_cast<int64_t>(malloc_usable_size(p));
  int64_t before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  return p;
}

void Uncounted(void* p) {
  if (p) held.fetch_sub(static_cast<int64_t>(malloc_usable_size(p)), std::memory_order_relaxed);
  std::free(p);
}

}  // namespace

void* operator new(size_t n) { return Counted(n, 0); }
void* operator new[](size_t n) { return Counted(n, 0); }
void* operator new(size_t n, std::align_val_t a) { return Counted(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return Counted(n, static_cast<size_t>(a)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return Counted(n, 0, false); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return Counted(n, 0, false); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return Counted(n, static_cast<size_t>(a), false); }
void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return Counted(n, static_cast<size_t>(a), false); }
void operator delete(void* p) noexcept { Uncounted(p); }
void operator delete[](void* p) noexcept { Uncounted(p); }
void operator delete(void* p, size_t) noexcept { Uncounted(p); }
void operator delete[](void* p, size_t) noexcept { Uncounted(p); }
void operator delete(void* p, std::align_val_t) noexcept { Uncounted(p); }
void operator delete[](void* p, std::align_val_t) noexcept { Uncounted(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { Uncounted(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { Uncounted(p); }

namespace fuzz {

void Allocations::Reset() {
  mxnet::Storage::Get()->ReleaseAll(mxnet::Context::CPU());
  mxnet::Storage::Get()->ResetPeak(mxnet::Context::CPU());
  held_at_reset = held.load();
  peak.store(held_at_reset);
}

size_t Allocations::Peak() {
  return static_cast<size_t>(peak.load() - held_at_reset) + mxnet::Storage::Get()->Stats(mxnet::Context::CPU()).peak_bytes;
}

Mutator::Mutator(uint32_t seed, std::vector<std::string> corpus, std::vector<std::string> tokens)
    : random_(seed), corpus_(std::move(corpus)), tokens_(std::move(tokens)) {}

std::string Mutator::Next() {
  std::string s = corpus_[Below(corpus_.size())];
  for (uint32_t changes = Below(7); changes > 0; --changes) Change(&s);
  return s;
}

void Mutator::Change(std::string* s) {
  const size_t at = Below(s->size() + 1), left = s->size() - at;
  switch (Below(11)) {
    case 0:
      if (left) (*s)[at] = static_cast<char>((*s)[at] ^ (1 << Below(8)));
      break;
    case 1:
      if (left) (*s)[at] = static_cast<char>(random_());
      break;
    case 2: s->resize(at); break;
    case 3: s->erase(at, Below(16) + 1); break;
    case 4: s->insert(at, tokens_[Below(tokens_.size())]); break;
    case 5: {  // a token over what is there
      const std::string& t = tokens_[Below(tokens_.size())];
      s->replace(at, std::min(left, t.size()), t);
      break;
    }
    case 6: s->insert(at, s->substr(at, Below(64))); break;  // repeat
    case 7: {                                                // a part of another input
      const std::string& other = corpus_[Below(corpus_.size())];
      s->insert(at, other.substr(Below(other.size()), Below(200)));
      break;
    }
    case 8: {  // a binary number of 4 or 8 bytes at the borders of its range
      static const uint64_t kNumbers[] = {0,
                                          1,
                                          2,
                                          63,
                                          64,
                                          65,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0xffffffffffffffff,
                                          1u << 20,
                                          1ull << 33};
      const uint64_t v = kNumbers[Below(sizeof(kNumbers) / sizeof(*kNumbers))];
      const size_t n = std::min<size_t>(left, Below(2) ? 4 : 8), aligned = at / 4 * 4;
      std::memcpy(&(*s)[aligned], &v, std::min(n, s->size() - aligned));
      break;
    }
    case 9: {  // a number in the text becomes another
      static const char* const kNumbers[] = {
          "0", "-1", "1", "2147483647", "4294967296", "9223372036854775807", "99999999999999999999", "1e400", "-0.5", "65536"};
      const size_t digit = s->find_first_of("0123456789", at);
      if (digit == std::string::npos) break;
      size_t end = digit;
      while (end < s->size() && std::isdigit(static_cast<unsigned char>((*s)[end]))) ++end;
      s->replace(digit, end - digit, kNumbers[Below(sizeof(kNumbers) / sizeof(*kNumbers))]);
      break;
    }
    default: {  // two pieces change places
      const size_t other = Below(s->size() + 1), n = Below(40);
      const std::string piece = s->substr(at, n);
      s->erase(at, n);
      s->insert(std::min(other, s->size()), piece);
    }
  }
}

void Run(Mutator* mutator, int runs, Budget budget, const std::function<void(const std::string&)>& read) {
  if (const char* wanted = std::getenv("FUZZ_RUNS")) runs = std::atoi(wanted);
  int accepted = 0, refused = 0;
  double worst = 0;
  for (int i = 0; i < runs; ++i) {
    const std::string input = mutator->Next();
    Allocations::Reset();
    const auto begin = std::chrono::steady_clock::now();
    try {
      read(input);
      ++accepted;
    } catch (const mxnet::Error& e) {
      ++refused;
      ASSERT_NE(std::string(e.what()), "") << "input " << i;
    } catch (const std::exception& e) {
      FAIL() << "input " << i << " of " << input.size() << " bytes: " << e.what();
    }
    const size_t bytes = Allocations::Peak();
    ASSERT_LE(bytes, budget.multiple * input.size() + budget.constant) << "input " << i << " of " << input.size() << " bytes";
    if (bytes > budget.constant) worst = std::max(worst, static_cast<double>(bytes - budget.constant) / static_cast<double>(input.size()));
    // not a measurement: a loaded machine is slow, but an endless loop is endless
    ASSERT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 60) << "input " << i;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
  ::testing::Test::RecordProperty("accepted", accepted);
  std::printf("%d accepted, %d refused, at most %.1f bytes per byte above the constant\n", accepted, refused, worst);
}

std::string Data(const std::string& file) {
  std::ifstream f(std::string(MXNET_TEST_DATA) + "/" + file, std::ios::binary);
  std::ostringstream s;
  s << f.rdbuf();
  EXPECT_TRUE(f.good() && !s.str().empty()) << "tests/python/data/" << file << " cannot be read";
  return s.str();
}

}  // namespace fuzz
