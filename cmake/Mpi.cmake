# What calls MPI, opened by libmxnet when the first store of type dist is made: whoever makes none needs no MPI. It is linked to nothing of ours.
# Open MPI 4.1 and 5.0 have the same library name, so either serves when it runs.
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "Stores of many processes need Open MPI (libopenmpi-dev). Run ./dev setup, or build with -DUSE_MPI=OFF.")
endif()
add_library(mxnet_mpi MODULE ${mpi_sources})
target_include_directories(mxnet_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(mxnet_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)   # the C interface
if(MXNET_MPI_INCLUDE)
  # A library with the name of Open MPI's and nothing in it: the names are looked up when libmxnet_mpi.so is opened.
  set(mpi_stub ${PROJECT_BINARY_DIR}/third_party/mpi)
  file(WRITE ${mpi_stub}/empty.c "")
  add_library(mxnet_mpi_stub SHARED ${mpi_stub}/empty.c)
  set_target_properties(mxnet_mpi_stub PROPERTIES OUTPUT_NAME mpi SOVERSION 40 LIBRARY_OUTPUT_DIRECTORY ${mpi_stub})
  target_include_directories(mxnet_mpi SYSTEM PRIVATE ${MXNET_MPI_INCLUDE})
  target_link_libraries(mxnet_mpi PRIVATE -Wl,--no-as-needed mxnet_mpi_stub -Wl,--as-needed)
  set_target_properties(mxnet_mpi PROPERTIES BUILD_RPATH "")
else()
  target_link_libraries(mxnet_mpi PRIVATE MPI::MPI_C)
endif()
set_target_properties(mxnet_mpi PROPERTIES PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
add_dependencies(mxnet mxnet_mpi)
