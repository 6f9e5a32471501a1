/*
 * Libraries of users' own (mxnet/lib_api.h): their operators become records, their partitioners and
 * passes rewrite symbols. A library stays loaded until the process ends.
 */
#ifndef MXNET_LIBRARY_LIBRARY_H_
#define MXNET_LIBRARY_LIBRARY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/graph.h"
#include "mxnet/lib_api_abi.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace library {

struct Library {
  std::string path;
  const MXExtLibrary* table = nullptr;
};

/*
 * `path` is absolute, or relative to the working folder. Loading one again does nothing. Throws
 * Error(kGeneric) when the file is none, was made against another header, refuses this runtime or
 * brings an operator, partitioner or pass of a name that is taken: then nothing of it is known
 * afterwards. `verbose`: what it has is printed.
 */
void Load(const std::string& path, bool verbose);

/* ": " and what the library said of the failure on this thread, or nothing. */
std::string Why(const Library& library);

/* Records of one operator: itself, and its gradient where it has one. Throws Error(kGeneric). */
void MakeRecords(const std::shared_ptr<const Library>& library, size_t op, std::vector<std::unique_ptr<Op>>* records);

/* ---- what rewrites symbols */

struct Arrays {
  std::map<std::string, NDArray> args, aux;
};

struct Request {
  Symbol symbol;
  std::map<std::string, std::string> options;
  Arrays given;                         // parameters that are known
  std::map<std::string, Shape> shapes;  // of other inputs
  std::map<std::string, int> dtypes;
  bool infer = true;
};

struct Rewritten {
  Symbol symbol;
  Arrays made;  // new parameters
};

/* Is there a partitioner or a pass of that name? */
bool Knows(const std::string& backend);
std::vector<std::string> Backends();
/* Throws Error with what the library says, or kValue when what it gives is no graph. */
Rewritten Rewrite(const std::string& backend, const Request& request);

Rewritten Partition(const Library& library, size_t partitioner, const Request& request);
Rewritten RunPass(const Library& library, size_t pass, const Request& request);

}  // namespace library
}  // namespace mxnet
#endif  // MXNET_LIBRARY_LIBRARY_H_
