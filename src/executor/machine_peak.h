// What the machine can do at most: what the times of nodes are held against.
#ifndef MXNET_EXECUTOR_MACHINE_PEAK_H_
#define MXNET_EXECUTOR_MACHINE_PEAK_H_

namespace mxnet {

/*
 * Billions a second, of all threads that operators use together. `float32` at the level that
 * MXNET_CPU_CALL uses, `bfloat16` and `int8` by the processor's instructions for them, if that
 * level has them; a multiplication and an addition are two. `bytes`: read, or read and written,
 * from memory that no cache holds.
 */
struct MachinePeak {
  int threads = 0;
  double float32 = 0, bfloat16 = 0, int8 = 0, bytes = 0;
};

/* Measured at the first call, for some 50 ms, and again when the level or the number of threads has
 * changed; by the processor time of the threads, so that other programs on the cores count little.
 */
MachinePeak MeasuredPeak();

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_MACHINE_PEAK_H_
