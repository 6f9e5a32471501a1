/* Names and numbers that prelude.cuh works with. */
#ifndef MXNET_RTC_PRELUDE_H_
#define MXNET_RTC_PRELUDE_H_

#include <cstdint>

namespace mxnet {
namespace rtc {

/* Name of a dtype's storage type in the prelude ("float", "mx::half", ...). Throws Error(kType). */
const char* StorageName(int dtype);

/*
 * Divisor d as three numbers for mx::Divide (Granlund and Montgomery, "Division by invariant
 * integers using multiplication", 1994); exact for dividends below 2^31.
 */
struct FastDivisor {
  explicit FastDivisor(int64_t d);
  int64_t divisor, multiplier, shift;
};

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_PRELUDE_H_
