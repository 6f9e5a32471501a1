// What calls of a model took, by the number of their inputs' elements.
#include "onnx/run/call_times.h"

#include <gtest/gtest.h>

namespace mxnet {
namespace onnx {
namespace {

TEST(CallTimes, SaysNothingBeforeEnoughCalls) {
  CallTimes times;
  EXPECT_EQ(times.Planned(100), CallTimes::kUnknown);
  times.PutPlanned(100, 900);  // packs weights
  EXPECT_EQ(times.Planned(100), CallTimes::kUnknown);
  times.PutPlanned(101, 30);
  EXPECT_EQ(times.Planned(100), 30);
  times.PutOnce(100, 80);
  times.PutOnce(100, 40);
  EXPECT_EQ(times.Once(100), CallTimes::kUnknown);
  times.PutOnce(100, 50);
  EXPECT_EQ(times.Once(100), 40);
  EXPECT_EQ(times.Planned(100), 30);  // the two are apart
}

TEST(CallTimes, ComparesCallsOfAboutTheSameSize) {
  CallTimes times;
  for (int i = 0; i < 3; ++i) times.PutPlanned(1000, 10);
  EXPECT_EQ(times.Planned(1300), 10);
  EXPECT_EQ(times.Planned(800), 10);
  EXPECT_EQ(times.Planned(3000), CallTimes::kUnknown);
  EXPECT_EQ(times.Planned(200), CallTimes::kUnknown);
  for (int i = 0; i < 3; ++i) times.PutPlanned(1300, 20);
  EXPECT_EQ(times.Planned(1300), 20);  // the nearest
}

TEST(CallTimes, TakesAnyNumberOfElements) {
  CallTimes times;
  for (const double elements : {-1.0, 0.0, 1.0, 1e300})
    for (int i = 0; i < 3; ++i) times.PutOnce(elements, 7);
  EXPECT_EQ(times.Once(0), 7);
  EXPECT_EQ(times.Once(1e18), 7);
}

TEST(CallTimes, TellsWhatMakingAPlanTakesFromTheSecondOn) {
  CallTimes times;
  times.PutMade(500);
  EXPECT_EQ(times.Made(), CallTimes::kUnknown);
  times.PutMade(100);
  times.PutMade(200);
  EXPECT_EQ(times.Made(), 100);
}

}  // namespace
}  // namespace onnx
}  // namespace mxnet
