/*
 * Pointwise work on a GPU: a program of table functions becomes one generated kernel that reads
 * every input once, broadcasts, converts, computes and writes. One operator is a program of one
 * step; a fused graph has many. The text is made in every build.
 */
#ifndef MXNET_OPERATOR_POINTWISE_GPU_PROGRAM_H_
#define MXNET_OPERATOR_POINTWISE_GPU_PROGRAM_H_

#include <string>
#include <vector>

#include "mxnet/kernel_args.h"
#include "operator/pointwise/gpu_functions.h"
#include "rtc/kernel.h"

namespace mxnet {
namespace pointwise {

struct DeviceValue {
  enum Kind { kInput, kStep, kNumber } kind = kInput;
  int index = 0;
};

struct DeviceStep {
  Function function;
  std::vector<DeviceValue> from;  // one per operand of the function
  int params = -1;                // p, q, r are numbers params, params + 1, params + 2; -1: not used
  int round_to =
      -1;  // dtype that the result is rounded to, as that of a separate operator would be; -1: none. The output's rounding is not a step's.
};

struct DeviceProgram {
  std::string name;  // of the kernel: letters, digits, _
  int compute = kF32;
  std::vector<DeviceStep> steps;  // the last one's result is the output
  int numbers = 0;
  std::string Signature() const;
};

/* How an input lies along the output's elements: element by element; one element; with steps, where
 * the innermost step is 1, 0, or anything. */
enum class Access : char { kAlong = 'c', kSingle = 's', kRows = 'v', kRepeated = 'b', kAny = 'g' };

/* All that the text depends on. */
struct DeviceVariant {
  std::vector<int> dtypes;  // of inputs
  std::vector<Access> access;
  int out_dtype = kFloat32;
  int ndim = 0;        // that strided inputs are read along; 0: there is none
  int width = 1;       // elements of one access
  int unroll = 1;      // accesses of each input that a thread has in flight at a time
  bool add = false;    // out += result
  bool large = false;  // 2^31 elements or more
};
/* Enough loads in flight to hide the memory's latency, less where there is much to compute for each
 * element. */
int UnrollFor(const DeviceProgram& program, const DeviceVariant& variant);
std::string ProgramText(const DeviceProgram& program, const DeviceVariant& variant);

/*
 * Launches out (=, +=) program(in...) on run.stream, inputs broadcast to out's shape; layouts are
 * honoured. numbers: program.numbers of them, in the compute type's range. Throws Error(kValue)
 * when more than 8 dimensions are left after merging. REQUIRES: out is one of the inputs element
 * for element, or apart from them.
 */
void RunProgram(const DeviceProgram& program, Span<const TBlob> in, const double* numbers, const TBlob& out, OpReq req,
                const RunContext& run);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_GPU_PROGRAM_H_
