/* Which dtypes NumPy's functions take and give: the one place with its rules of promotion. */
#ifndef MXNET_OPERATOR_RECORD_NUMPY_TYPES_H_
#define MXNET_OPERATOR_RECORD_NUMPY_TYPES_H_

#include <vector>

#include "mxnet/infer_switches.h"
#include "mxnet/node.h"

namespace mxnet {
namespace numpy {

/*
 * Whether results follow NumPy where programs of 1.x and 2.0 expect float32
 * (npx.set_np(dtype=True)): integers then become float64 wherever NumPy makes them so. Of this
 * thread. InferSwitches::OfThread reads it; inference is given that, and kernels look at the dtypes
 * of their arrays.
 */
MXNET_DLL bool& DefaultIsFloat64();

/*
 * NumPy's promotion. An integer beside a float takes the float's dtype, unless the default
 * float is float64; float16 beside bfloat16 gives float32. kDTypeUnknown when one is.
 */
int Promote(int a, int b, const InferSwitches& switches);
/* The same without the exception for integers: a dtype that holds the values of both, but for
 * 64-bit integers beside floats or other signs. Comparisons are made in it. */
int PromoteExactly(int a, int b);
/* Promote of several, in any order; kDTypeUnknown for none. */
int PromoteAll(const std::vector<int>& dtypes, const InferSwitches& switches);
/* The dtype in which an array and a number of Python meet. The number takes the array's dtype if
 * that has room for its kind: a fraction makes integers float64, an integer makes bool int64. */
int PromoteNumber(int dtype, bool is_int);
/* What exp and its like give: floats their own dtype, 8-bit integers and bool float16, others
 * float32, or the default float for 32 bits and more. */
int FloatResult(int dtype, const InferSwitches& switches);
/* What quotients and means give: floats their own dtype, integers and bool the default float. */
int Quotient(int dtype, const InferSwitches& switches);

/* Inference for gradients of functions of one array, (ograd, x or y): one dtype, unless an array is
 * of integers, of which NumPy's functions make floats. Then the result has the gradient's. */
bool GradientType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);

}  // namespace numpy
}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_NUMPY_TYPES_H_
