/*
 * Sets of dtypes, by name: those that a record accepts (set_dtypes, which every record calls) and
 * those that a parameter may name (MXNET_DTYPE_FIELD_OF in param.h).
 *
 *   .set_dtypes(dtypes::kFloats)
 *   .set_dtypes(dtypes::kFloats | dtypes::kBytes)
 */
#ifndef MXNET_OPERATOR_RECORD_DTYPES_H_
#define MXNET_OPERATOR_RECORD_DTYPES_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {
namespace dtypes {

class Set {
 public:
  constexpr Set(std::initializer_list<DType> members) {
    for (DType dtype : members) bits_ |= uint32_t{1} << dtype;
  }
  /* False for kDTypeUnknown and numbers outside the enum. */
  constexpr bool Has(int dtype) const { return dtype >= 0 && dtype < kNumDTypes && (bits_ >> dtype & 1) != 0; }
  constexpr Set operator|(Set other) const { return Set(bits_ | other.bits_); }
  constexpr Set operator-(Set other) const { return Set(bits_ & ~other.bits_); }
  /* Floats first, in the order in which messages and documentation list them. */
  operator std::vector<int>() const;

 private:
  constexpr explicit Set(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;  // bit i: the dtype of number i
};

inline constexpr Set kHalves{kFloat16, kBfloat16};
inline constexpr Set kReals{kFloat32, kFloat64};  // of factorisations: LAPACK's single and double precision
inline constexpr Set kFloats = kReals | kHalves;
inline constexpr Set kIeeeFloats{kFloat16, kFloat32, kFloat64};  // those that NumPy has too
inline constexpr Set kFloatsUpTo32{kFloat32, kFloat16, kBfloat16};

inline constexpr Set kBytes{kInt8, kUint8};                            // of quantized layers
inline constexpr Set kClassicIntegers{kUint8, kInt8, kInt32, kInt64};  // those of mx.nd in 1.x
inline constexpr Set kIntegers = kClassicIntegers | Set{kInt16, kUint16, kUint32, kUint64};
inline constexpr Set kIntegersAndBool = kIntegers | Set{kBool};

inline constexpr Set kClassicNumbers = kFloats | kClassicIntegers;
inline constexpr Set kClassic = kClassicNumbers | Set{kBool};
inline constexpr Set kNumbers = kFloats | kIntegers;
inline constexpr Set kAll = kNumbers | Set{kBool};

/* "float32, float64": for messages. */
std::string List(const std::vector<int>& dtypes);

}  // namespace dtypes
}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_DTYPES_H_
