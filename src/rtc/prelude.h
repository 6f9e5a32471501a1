/* The first lines of every generated kernel: storage types with their conversions, packs of
 * elements, fast division. No #include, so a machine needs no CUDA headers. */
#ifndef MXNET_RTC_PRELUDE_H_
#define MXNET_RTC_PRELUDE_H_

#include <string>

namespace mxnet {
namespace rtc {

/*
 * Conversions of 16-bit floats, and functions with about one unit in the last place of error,
 * results below 2^-126 being 0: the only text that is written for the device's instruction set.
 * Stands in front of Prelude().
 */
const char* HalfText();
/* HalfText() and the rest. */
std::string Prelude();
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
