#ifndef MXNET_OPERATOR_POINTWISE_LOOPS_PLAIN_CONVERSION_H_
#define MXNET_OPERATOR_POINTWISE_LOOPS_PLAIN_CONVERSION_H_

#include "operator/pointwise/loops/convert.h"

namespace mxnet {
namespace pointwise {

/* Numbers of dtypes. convert_cpu.cc compares them with those of mxnet/base.h, which is no header
 * for files that are compiled for several instruction sets. */
enum PlainType : int {
  kPlainFloat32 = 0,
  kPlainFloat64 = 1,
  kPlainUint8 = 3,
  kPlainInt32 = 4,
  kPlainInt8 = 5,
  kPlainInt64 = 6,
  kPlainBool = 7
};

}  // namespace pointwise

/* Conversions between dtypes that need no rounding mode nor range, with the widest vectors; null
 * where convert_cpu.cc has all that there is. */
MXNET_CPU_DECLARE(pointwise::ConvertFn PlainConversion(int from, int to);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_LOOPS_PLAIN_CONVERSION_H_
