#ifndef MXNET_ENGINE_INTERRUPTED_H_
#define MXNET_ENGINE_INTERRUPTED_H_

#include "mxnet/error.h"

namespace mxnet {
namespace engine {

/*
 * An operation that ended because the user interrupted it. The signal has told the program of it:
 * whoever reads its results gets the error, but a program that ends without reading them has lost
 * nothing that it does not know of.
 */
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_INTERRUPTED_H_
