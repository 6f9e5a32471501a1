/*
 * What is changed in place, and how a failure leaves it.
 *
 * An operation replaces most of what it writes: its results. After a failure they were never
 * computed, and reading them raises until a later write succeeds. Other variables it changes:
 * weights, moving means, sums, parts of larger arrays. They stand in both lists of a push. What
 * they held is an input, so poison in them skips the operation; and they still hold it after a
 * failure, so that they can be read again as soon as the error has been raised anywhere. A program
 * that catches the error of one batch goes on with the weights that it had. A change pushed after
 * the error was raised, by inputs that still have it, raises once more: it would be lost in silence
 * otherwise.
 *
 * Workspace variables are changed as well, but worth nothing after a failure: one part of a plan
 * fills an arena, the next reads it. Their poison stays until an operation that does not read them
 * writes them.
 */
#ifndef MXNET_ENGINE_CHANGE_H_
#define MXNET_ENGINE_CHANGE_H_

#include <exception>

#include "mxnet/engine.h"

namespace mxnet {
namespace engine {

/* Engine::Release where the first `num_kept` of `writes` were changed. The lists are TryAcquire's:
 * no variable in both. */
void ReleaseChanged(Engine* engine, Var* const* reads, int num_reads, Var* const* writes, int num_writes, int num_kept,
                    std::exception_ptr error, const char* name);

Var* NewWorkspaceVariable(Engine* engine);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_CHANGE_H_
