// Calls on several devices that meet: see src/operator/record/meeting.h.
#include "operator/record/meeting.h"

#include <gtest/gtest.h>

#include <future>

#include "mxnet/error.h"

namespace mxnet {
namespace {

MeetingNumbers Own(int device, double number) { return {Context{DeviceType::kGPU, device}, {number}}; }

TEST(Meeting, GivesAllNumbersInTheOrderOfDevices) {
  auto late = std::async(std::launch::async, [] { return MeetOthers("", "order", 2, Own(0, 10)); });
  const auto all = MeetOthers("", "order", 2, Own(1, 11));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].numbers[0], 10);
  EXPECT_EQ(all[1].numbers[0], 11);
  EXPECT_EQ(late.get()[1].numbers[0], 11);
}

TEST(Meeting, OneDeviceMeetsItself) { EXPECT_EQ(MeetOthers("", "alone", 1, Own(0, 3))[0].numbers[0], 3); }

TEST(Meeting, ADeviceThatComesAgainOpensTheNextRound) {
  auto first = std::async(std::launch::async, [] { return MeetOthers("", "again", 2, Own(0, 1)); });
  auto second = std::async(std::launch::async, [] { return MeetOthers("", "again", 2, Own(0, 2)); });
  double sum = MeetOthers("", "again", 2, Own(1, 100))[0].numbers[0];
  sum += MeetOthers("", "again", 2, Own(1, 200))[0].numbers[0];
  EXPECT_EQ(sum, 3);
  first.get(), second.get();
}

TEST(Meeting, GivesUpWhenTheOthersDoNotCome) {
  auto other = std::async(std::launch::async, [] { EXPECT_THROW(MeetOthers("[op] ", "missing", 3, Own(1, 0), 0.2), Error); });
  try {
    MeetOthers("[op] ", "missing", 3, Own(0, 0), 0.1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[op] key missing"), std::string::npos) << e.what();
  }
  other.get();
  auto late = std::async(std::launch::async, [] { return MeetOthers("", "missing", 3, Own(2, 7)); });  // a new round
  auto later = std::async(std::launch::async, [] { return MeetOthers("", "missing", 3, Own(1, 7)); });
  EXPECT_EQ(MeetOthers("", "missing", 3, Own(0, 7)).size(), 3u);
  late.get(), later.get();
}

}  // namespace
}  // namespace mxnet
