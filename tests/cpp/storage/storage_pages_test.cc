/* Pages of large blocks: huge, or small ones that become huge later. */
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "base/huge_pages.h"
#include "common/huge_at.h"
#include "mxnet/storage.h"

namespace mxnet {
namespace {

constexpr size_t kBlock = size_t{24} << 20;

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HugePagesExist()) GTEST_SKIP() << "this system makes no huge pages";
  }
  void TearDown() override { AssumeSlowPages(0); }
};

/* MiB that are huge within some seconds, or as soon as `most` are. */
int64_t HugeLater(const char* block, int64_t most, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (HugeAt(block) < most && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return HugeAt(block);
}

TEST_F(Pages, SmallOnesBecomeHugeWhenAllIsWritten) {
  AssumeSlowPages(1 << 20);
  StorageHandle block = Storage::Get()->Alloc(kBlock, Context::CPU());
  auto* const data = static_cast<char*>(block.dptr);
  for (size_t i = 0; i < kBlock; ++i) data[i] = static_cast<char>(i % 251);
  EXPECT_EQ(0, HugeAt(data));
  AssumeSlowPages(0);
  EXPECT_GT(HugeLater(data, kBlock >> 20, 20), 0);
  for (size_t i = 0; i < kBlock; i += 997) ASSERT_EQ(static_cast<char>(i % 251), data[i]);
  Storage::Get()->DirectFree(block);
}

TEST_F(Pages, WhatNobodyWroteStaysAway) {
  AssumeSlowPages(1 << 20);
  StorageHandle block = Storage::Get()->Alloc(kBlock, Context::CPU());
  auto* const data = static_cast<char*>(block.dptr);
  std::memset(data, 1, 2 * kHugePage);
  std::memset(data + 4 * kHugePage, 1, kHugePage / 2);
  AssumeSlowPages(0);
  EXPECT_LE(HugeLater(data, 5, 3), 4);
  Storage::Get()->DirectFree(block);
}

TEST_F(Pages, ABlockMayGoBeforeItsPagesAreHuge) {
  for (int i = 0; i < 40; ++i) {
    AssumeSlowPages(1 << 20);
    StorageHandle block = Storage::Get()->Alloc(kBlock, Context::CPU());
    std::memset(block.dptr, i, kBlock);
    std::this_thread::sleep_for(std::chrono::milliseconds(37));
    Storage::Get()->DirectFree(block);
  }
}

}  // namespace
}  // namespace mxnet
