/* Copies between pageable memory and a device through pinned chunks: devices that are as late as
 * they may be, errors in the middle, no memory. */
#include "ndarray/pinned_ring.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/fake_streams.h"
#include "common/scoped_part.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "mxnet/ndarray.h"
#include "ndarray/run.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

constexpr size_t kPage = 4096;  // what the pool rounds to
constexpr int kChunks = 3;

/* As CUDA copies: pinned memory when the stream comes to it; pageable memory is read before the
 * call returns, or written when it does. */
struct Copies {
  inline static std::atomic<int> number{0}, fail_at{-1};
  inline static std::atomic<int> direct{0};  // of pageable memory
  inline static std::atomic<size_t> most_under_way{0};
  static void Copy(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* s) {
    const int n = number++;
    if (n == fail_at) throw Error("[NDArray] copy failed: fake refusal");
    ASSERT_NE(s, nullptr);
    FakeStream* stream = static_cast<FakeStream*>(s);
    const auto pageable = [](Context c) { return c.dev_type == DeviceType::kCPU || c.dev_type == DeviceType::kCPUShared; };
    if (pageable(src_ctx)) {
      ++direct;
      auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(src), static_cast<const char*>(src) + bytes);
      stream->Put([=] { std::memcpy(dst, staged->data(), bytes); });
      return;
    }
    stream->Put([=] {
      if (n % 5 == 0) std::this_thread::yield();
      std::memcpy(dst, src, bytes);
    });
    most_under_way = std::max<size_t>(most_under_way, stream->under_way());
    if (!pageable(dst_ctx)) return;
    ++direct;
    stream->Wait(stream->put());
  }
};

StreamHooks g_hooks;  // kFakeStreams with a `record` that fails when told
std::atomic<int> g_records{0}, g_record_fails_at{-1};

FakeDevice* PinnedDevice() {
  static auto* const device = new std::shared_ptr<FakeDevice>(std::make_shared<FakeDevice>(kChunks * kPage + (size_t{64} << 20)));
  return device->get();
}

class PinnedRings : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // stays: workers give their streams back when the process ends
    g_hooks = kFakeStreams;
    g_hooks.record = [](void* stream) {
      if (g_records++ == g_record_fails_at) throw Error("[engine] recording an event failed: fake refusal");
      return kFakeStreams.record(stream);
    };
    GpuInterface().streams.Set(&g_hooks);
    static const CopyHooks kCopies = {Copies::Copy};
    GpuInterface().copies.Set(&kCopies);
    static const storage::MemoryHooks kPinned = {
        [](int) { return std::shared_ptr<StorageBackend>(PinnedDevice(), [](StorageBackend*) {}); }};
    DeviceInterfaceOf(DeviceType::kCPUPinned).memory.Set(&kPinned);
    FakeGpuMemory<size_t{1} << 30>();
  }
  void SetUp() override {
    Copies::fail_at = g_record_fails_at = -1;
    Copies::direct = 0;
    FakeStream::fault = false;
  }
  static std::vector<char> Bytes(size_t n, unsigned seed) {
    std::vector<char> v(n);
    std::mt19937 random(seed);
    for (char& c : v) c = static_cast<char>(random());
    return v;
  }
  static bool Down(PinnedRing* ring, std::vector<char>* to, const std::vector<char>& from, FakeStream* stream,
                   Context host = Context::CPU()) {
    return ring->Copy(to->data(), Context::GPU(0), from.data(), host, from.size(), stream);
  }
  static bool Up(PinnedRing* ring, std::vector<char>* to, const std::vector<char>& from, FakeStream* stream) {
    return ring->Copy(to->data(), Context::CPU(), from.data(), Context::GPU(0), from.size(), stream);
  }
  static int Total(size_t bytes) { return static_cast<int>((bytes + kPage - 1) / kPage); }
};

// Every size around the chunks' ends, in both directions, on two streams in turn; sources change as
// soon as a copy returns.
TEST_F(PinnedRings, CopiesArriveWholeHoweverLate) {
  for (FakeStream::Kind kind : {FakeStream::kLazy, FakeStream::kThread}) {
    FakeStream one(kind), two(kind);
    {
      PinnedRing ring(kPage, kChunks);
      unsigned seed = 1;
      for (size_t n :
           {size_t{0}, size_t{1}, kPage - 1, kPage, kPage + 1, 2 * kPage, 3 * kPage - 7, 3 * kPage, 3 * kPage + 1, 20 * kPage + 5}) {
        std::vector<char> a = Bytes(n, ++seed), b = Bytes(n, ++seed);
        const std::vector<char> want_a = a, want_b = b;
        std::vector<char> device_a(n), device_b(n), back_a(n), back_b(n);
        ASSERT_TRUE(Down(&ring, &device_a, a, &one));
        std::fill(a.begin(), a.end(), 'x');
        ASSERT_TRUE(Down(&ring, &device_b, b, &two, Context::CPUShared()));
        std::fill(b.begin(), b.end(), 'y');
        ASSERT_TRUE(Up(&ring, &back_a, device_a, &one));
        EXPECT_EQ(back_a, want_a) << n << " bytes";  // complete, without a wait
        std::fill(device_a.begin(), device_a.end(), 'z');
        ASSERT_TRUE(Up(&ring, &back_b, device_b, &two));
        EXPECT_EQ(back_b, want_b) << n << " bytes";
        EXPECT_LE(ring.chunks(), static_cast<size_t>(kChunks));
      }
      EXPECT_EQ(ring.chunks(), static_cast<size_t>(kChunks));
    }
    EXPECT_EQ(FakeStream::events, 0);
  }
  EXPECT_EQ(Copies::direct, 0);
  EXPECT_EQ(Storage::Get()->Stats(Context::CPUPinned()).used_bytes, 0u);
}

// The host waits for a chunk only when all are in use, and the device always has the others to do.
TEST_F(PinnedRings, HostAndDeviceWorkAtTheSameTime) {
  FakeStream stream(FakeStream::kLazy);
  PinnedRing ring(kPage, kChunks);
  const std::vector<char> source = Bytes(10 * kPage + 1, 3);
  std::vector<char> device(source.size()), back(source.size());
  int finishes = FakeStream::finishes;
  ASSERT_TRUE(ring.Copy(device.data(), Context::GPU(0), source.data(), Context::CPU(), kChunks * kPage, &stream));
  EXPECT_EQ(FakeStream::finishes, finishes) << "as many parts as chunks: nobody waits";
  EXPECT_EQ(stream.under_way(), static_cast<size_t>(kChunks));
  g_hooks.synchronize(&stream);
  Copies::most_under_way = 0;
  ASSERT_TRUE(Down(&ring, &device, source, &stream));
  EXPECT_EQ(Copies::most_under_way, static_cast<size_t>(kChunks));
  EXPECT_GT(stream.under_way(), 0u) << "the end of the copy is the device's";
  g_hooks.synchronize(&stream);
  Copies::most_under_way = 0;
  finishes = FakeStream::finishes;
  ASSERT_TRUE(Up(&ring, &back, device, &stream));
  EXPECT_EQ(Copies::most_under_way, static_cast<size_t>(kChunks));
  EXPECT_EQ(back, source);
  // A small copy takes a chunk that is free, and none is made for it.
  PinnedRing small(kPage, kChunks);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(small.Copy(device.data(), Context::GPU(0), source.data(), Context::CPU(), 9, &stream));
    g_hooks.synchronize(&stream);
  }
  EXPECT_EQ(small.chunks(), 1u);
}

// Whatever fails, at whichever part: the error is told, nothing of the copy is under way, and the
// next copy is right.
TEST_F(PinnedRings, ErrorsInTheMiddle) {
  FakeStream stream(FakeStream::kLazy);
  const std::vector<char> source = Bytes(7 * kPage + 11, 5);
  const int parts = Total(source.size());
  for (bool down : {true, false}) {
    PinnedRing ring(kPage, kChunks);
    for (int kind = 0; kind < 2; ++kind) {
      for (int part = 0; part < parts; ++part) {
        std::vector<char> device(source.size()), back(source.size());
        (kind == 0 ? Copies::fail_at : g_record_fails_at) = (kind == 0 ? Copies::number.load() : g_records.load()) + part;
        EXPECT_THROW(down ? Down(&ring, &device, source, &stream) : Up(&ring, &back, source, &stream), Error);
        Copies::fail_at = g_record_fails_at = -1;
        EXPECT_EQ(stream.under_way(), 0u) << "part " << part;
        EXPECT_EQ(FakeStream::events, 0) << "part " << part;
        ASSERT_TRUE(Down(&ring, &device, source, &stream));
        ASSERT_TRUE(Up(&ring, &back, device, &stream));
        EXPECT_EQ(back, source);
        g_hooks.synchronize(&stream);
        ASSERT_TRUE(Up(&ring, &back, device, &stream));  // leaves no event
      }
    }
    FakeStream::fault = true;
    std::vector<char> other(source.size());
    EXPECT_THROW(down ? Down(&ring, &other, source, &stream) : Up(&ring, &other, source, &stream), Error);
    EXPECT_EQ(FakeStream::events, 0);
    FakeStream::fault = false;
  }
}

TEST_F(PinnedRings, WithoutPinnedMemory) {
  FakeStream stream(FakeStream::kLazy);
  const std::vector<char> source = Bytes(6 * kPage + 3, 7);
  std::vector<char> device(source.size()), back(source.size());
  FakeDevice* memory = PinnedDevice();
  Storage::Get()->ReleaseAll(Context::CPUPinned());
  // one chunk and no more: part after part
  {
    PinnedRing ring(kPage, kChunks);
    for (int call = 2; call <= 40; ++call) memory->fail_calls.insert(memory->mallocs + call);
    ASSERT_TRUE(Down(&ring, &device, source, &stream));
    const int asked = memory->mallocs;
    ASSERT_TRUE(Up(&ring, &back, device, &stream));
    EXPECT_EQ(ring.chunks(), 1u);
    EXPECT_EQ(back, source);
    EXPECT_EQ(memory->mallocs, asked) << "refused memory is not asked for by every copy";
  }
  Storage::Get()->ReleaseAll(Context::CPUPinned());
  // none: not done, and the caller's way is the direct one
  for (int call = 1; call <= 40; ++call) memory->fail_calls.insert(memory->mallocs + call);
  PinnedRing ring(kPage, kChunks);
  EXPECT_FALSE(Down(&ring, &device, source, &stream));
  EXPECT_EQ(ring.chunks(), 0u);
  EXPECT_EQ(stream.under_way(), 0u);
  std::vector<char> large = Bytes(PinnedRing::kDirectBytes + 1, 8), on_device(large.size()), again(large.size());
  const std::vector<char> want = large;
  std::thread([&] {
    CopyWithDevice(on_device.data(), Context::GPU(0), large.data(), Context::CPU(), large.size(), &stream);
    std::fill(large.begin(), large.end(), 0);
    CopyWithDevice(again.data(), Context::CPU(), on_device.data(), Context::GPU(0), large.size(), &stream);
  }).join();
  EXPECT_EQ(again, want);
  EXPECT_EQ(Copies::direct, 2);
  memory->fail_calls.clear();
}

// Memory that no copy uses goes to those who ask for pinned arrays.
TEST_F(PinnedRings, IdleChunksAreGivenBackBeforeARequestIsRefused) {
  FakeStream stream(FakeStream::kLazy);
  const std::vector<char> source = Bytes(kChunks * kPage, 9);
  std::vector<char> device(source.size());
  FakeDevice* memory = PinnedDevice();
  const Context pinned = Context::CPUPinned();
  PinnedRing ring(kPage, kChunks);
  Storage::Get()->ReleaseAll(pinned);
  ASSERT_TRUE(Down(&ring, &device, source, &stream));
  ASSERT_EQ(ring.chunks(), static_cast<size_t>(kChunks));
  std::vector<StorageHandle> pages;
  size_t free_bytes = 0, total = 0;
  memory->MemInfo(&free_bytes, &total);
  const StorageHandle rest = Storage::Get()->Alloc(free_bytes & ~((size_t{2} << 20) - 1), pinned);  // large requests are rounded to 2 MiB
  EXPECT_THROW(Storage::Get()->Alloc(size_t{2} << 20, pinned), Error);
  EXPECT_EQ(ring.chunks(), static_cast<size_t>(kChunks)) << "in use";
  memory->MemInfo(&free_bytes, &total);
  while (free_bytes >= kPage) {  // the pool hands out single pages, and keeps none of its own
    pages.push_back(Storage::Get()->Alloc(kPage, pinned));
    memory->MemInfo(&free_bytes, &total);
  }
  stream.Wait(2);  // of three
  pages.push_back(Storage::Get()->Alloc(kPage, pinned));
  EXPECT_EQ(ring.chunks(), 1u);
  pages.push_back(Storage::Get()->Alloc(kPage, pinned));
  EXPECT_THROW(Storage::Get()->Alloc(kPage, pinned), Error);
  stream.Wait(3);
  EXPECT_EQ(FakeStream::events, 1);
  pages.push_back(Storage::Get()->Alloc(kPage, pinned));
  EXPECT_EQ(FakeStream::events, 0);
  EXPECT_EQ(ring.chunks(), 0u);
  EXPECT_FALSE(Down(&ring, &device, source, &stream));
  for (const StorageHandle& p : pages) Storage::Get()->Free(p);
  Storage::Get()->Free(rest);
}

TEST_F(PinnedRings, AnEmptiedCacheHoldsNoIdleChunks) {
  const Context pinned = Context::CPUPinned();
  FakeStream stream(FakeStream::kLazy);
  PinnedRing ring(kPage, kChunks);
  const std::vector<char> source = Bytes(2 * kPage, 12);
  std::vector<char> device(source.size()), back(source.size());
  ASSERT_TRUE(Down(&ring, &device, source, &stream));
  ASSERT_EQ(ring.chunks(), 2u);
  stream.Wait(1);
  Storage::Get()->ReleaseAll(Context::CPU());
  EXPECT_EQ(ring.chunks(), 2u);
  Storage::Get()->ReleaseAll(pinned);
  EXPECT_EQ(ring.chunks(), 1u) << "one is in use";
  g_hooks.synchronize(&stream);
  Storage::Get()->ReleaseAll(pinned);
  EXPECT_EQ(ring.chunks(), 0u);
  EXPECT_EQ(FakeStream::events, 0);
  EXPECT_EQ(Storage::Get()->Stats(pinned).used_bytes, 0u);
  EXPECT_EQ(Storage::Get()->Stats(pinned).cached_bytes, 0u);
  ASSERT_TRUE(Up(&ring, &back, device, &stream));  // and goes on
  EXPECT_EQ(back, source);
}

TEST_F(PinnedRings, WhichCopiesGoThroughARing) {
  FakeStream stream(FakeStream::kLazy);
  std::vector<char> host = Bytes(PinnedRing::kDirectBytes + 1, 10), device(host.size());
  const auto chunks = [&](Context host_ctx, size_t bytes, const StreamHooks* hooks) {
    size_t made = 0;
    std::thread([&] {
      {
        const ScopedPart streams(GpuInterface().streams, hooks);
        CopyWithDevice(device.data(), Context::GPU(0), host.data(), host_ctx, bytes, &stream);
        CopyWithDevice(host.data(), host_ctx, device.data(), Context::GPU(0), bytes, &stream);
      }
      made = PinnedRing::OfThread()->chunks();
    }).join();
    g_hooks.synchronize(&stream);
    return made;
  };
  EXPECT_EQ(chunks(Context::CPU(), host.size(), &g_hooks), 1u);
  EXPECT_EQ(chunks(Context::CPUShared(), host.size(), &g_hooks), 1u);
  EXPECT_EQ(chunks(Context::CPUPinned(), host.size(), &g_hooks), 0u);
  EXPECT_EQ(chunks(Context::GPU(1), host.size(), &g_hooks), 0u);
  EXPECT_EQ(chunks(Context::CPU(), host.size() - 1, &g_hooks), 0u);
  StreamHooks without = g_hooks;
  without.record = nullptr;
  EXPECT_EQ(chunks(Context::CPU(), host.size(), &without), 0u) << "without events";
  EXPECT_EQ(FakeStream::events, 0);
  EXPECT_EQ(Storage::Get()->Stats(Context::CPUPinned()).used_bytes, 0u) << "threads give their chunks back";
}

TEST_F(PinnedRings, AForkedChildLeavesTheParentsMemoryAlone) {
  FakeStream stream(FakeStream::kLazy);
  PinnedRing ring(kPage, kChunks);
  const std::vector<char> source = Bytes(2 * kPage, 11);
  std::vector<char> device(source.size()), back(source.size());
  ASSERT_TRUE(Down(&ring, &device, source, &stream));
  const pid_t pid = fork();
  if (pid == 0) {
    PinnedRing own(kPage, kChunks);
    const bool right = !Down(&ring, &device, source, &stream) && stream.under_way() == 2 && Up(&own, &back, source, &stream);
    PinnedRing::GiveBackIdle();
    _exit(right && ring.chunks() == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_TRUE(Up(&ring, &back, device, &stream));
  EXPECT_EQ(back, source);
}

// Arrays on the host, in pinned memory and on two devices, copied at random: as in order.
TEST_F(PinnedRings, ArraysOfAllContexts) {
  const std::vector<Context> contexts = {Context::CPU(),  Context::CPU(),  Context::CPUPinned(),
                                         Context::GPU(0), Context::GPU(0), Context::GPU(1)};
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    const size_t size = std::vector<size_t>{1000, PinnedRing::kDirectBytes + 1, PinnedRing::kChunkBytes + 17}[seed % 3];
    std::vector<NDArray> arrays;
    std::vector<std::vector<char>> want;
    for (Context ctx : contexts) {
      arrays.emplace_back(Shape{static_cast<int64_t>(size)}, ctx, kUint8);
      want.push_back(Bytes(size, seed * 100 + static_cast<unsigned>(arrays.size())));
      arrays.back().CopyBytesFrom(want.back().data(), size);
    }
    for (int op = 0; op < 60; ++op) {
      const size_t from = random() % contexts.size(), to = random() % contexts.size();
      if (op % 12 == 5) {
        std::vector<char> values = Bytes(size, static_cast<unsigned>(random()));
        want[to] = values;
        arrays[to].CopyBytesFrom(values.data(), size);
        std::fill(values.begin(), values.end(), 0);
      } else if (op % 12 == 9) {
        std::vector<char> values(size);
        arrays[from].CopyBytesTo(values.data(), size);
        ASSERT_EQ(values, want[from]) << "seed " << seed << " operation " << op;
      } else if (from != to) {
        want[to] = want[from];
        CopyFromTo(arrays[from], arrays[to]);
      }
    }
    for (size_t i = 0; i < contexts.size(); ++i) {
      std::vector<char> values(size);
      arrays[i].CopyBytesTo(values.data(), size);
      EXPECT_EQ(values, want[i]) << "seed " << seed << " array on " << contexts[i];
    }
  }
  Engine::Get()->WaitForAll();
}

}  // namespace
}  // namespace mxnet
