/* The rows of the pointwise table as CUDA C functions, over the vocabulary of float_functions.cuh
 * and integer_functions.cuh. Text only, so every build has it. */
#ifndef MXNET_OPERATOR_POINTWISE_GPU_FUNCTIONS_H_
#define MXNET_OPERATOR_POINTWISE_GPU_FUNCTIONS_H_

#include <string>

#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace pointwise {

/* "float", "double", "int", "long long". */
const char* ComputeName(int compute);
/* `typedef ... T` and the functions of that type in namespace mx, and what surrounds a program
 * (gpu_program.cuh). */
std::string DeviceFunctions(int compute);

/* One function of the table: the row's expression, or its gradient (side 1: with respect to b)
 * times the incoming one. */
struct Function {
  int row = 0;
  bool gradient = false;
  int side = 0;
};
inline Function Forward(int row) { return {row, false, 0}; }
inline Function Gradient(int row, int side = 0) { return {row, true, side}; }

/* A name that is the same for equal functions only, e.g. "exp", "grad_hypot_1". */
std::string DeviceName(const Function& f);
/*
 * `__device__ T NAME(T x, T p, T q, T r)` with the operands that the function has (g first for
 * gradients, then x, y, a or b), then p, q, r always. rounded: in namespace mx::rounded, for
 * results in float that are rounded to 16 bits.
 */
std::string DeviceDefinition(const Function& f, bool rounded = false);
/* How many operands that is. */
int OperandCount(const Function& f);
/* Whether the row has this function: gradients of rows without derivative do not exist; integers
 * have exact rows only. */
bool HasFunction(const Function& f, int compute);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_GPU_FUNCTIONS_H_
