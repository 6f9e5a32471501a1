#include "operator/nodes/make_nodes.h"

#include <cstdio>

namespace mxnet {

std::string ExactText(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

}  // namespace mxnet
