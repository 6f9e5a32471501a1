# Writes OUT, a C++ file with the checksum of the binding's sources in FOLDER: cmake -DFOLDER=... -DOUT=... -P binding_sources.cmake
# python/mxnet/_binding computes the same number, and so knows a binding that was compiled from other sources.
cmake_minimum_required(VERSION 3.25)
file(GLOB sources ${FOLDER}/*.cc ${FOLDER}/*.h)
list(SORT sources)
set(digests)
foreach(source IN LISTS sources)
  file(SHA256 ${source} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
file(WRITE ${OUT} "#include \"binding.h\"\nconst char* const mxnet::python::kSources = \"${digest}\";\n")
