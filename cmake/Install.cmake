# One layout for both homes: include/, lib/, lib/cmake/mxnet under the prefix, or under mxnet/ in a wheel (wheel.install-dir).
include(CMakePackageConfigHelpers)

if(SKBUILD)
  set(libdir lib)
  # <site-packages>/mxnet/lib: the package onednn-cpu-gomp lays libdnnl.so.3 in the environment's lib, four up; with lib64 or --target, elsewhere.
  set(rpath "$ORIGIN" "$ORIGIN/../../../.." "$ORIGIN/../../../../../lib" "$ORIGIN/../../lib" "$ORIGIN/../../scipy_openblas32/lib")
else()
  set(libdir ${CMAKE_INSTALL_LIBDIR})
  set(rpath "$ORIGIN")
  if(USE_ONEDNN)
    # A prefix stands on its own: it outlives the Python environment that the library was built with.
    install(FILES $<TARGET_FILE:DNNL::dnnl> DESTINATION ${libdir} RENAME libdnnl.so.3)
  endif()
endif()
if(USE_CUDA)
  if(SKBUILD)
    list(APPEND rpath "$ORIGIN/../../nvidia/cu13/lib" "$ORIGIN/../../nvidia/cudnn/lib")   # NVIDIA's PyPI packages
  else()
    list(APPEND rpath ${CUDAToolkit_LIBRARY_DIR})
  endif()
endif()
set_target_properties(mxnet PROPERTIES INSTALL_RPATH "${rpath}")

install(TARGETS mxnet mxnet_cpp EXPORT mxnet LIBRARY DESTINATION ${libdir})
if(MXNET_DECODERS)
  install(TARGETS ${MXNET_DECODERS} LIBRARY DESTINATION ${libdir})
endif()
if(USE_MPI)
  install(TARGETS mxnet_mpi LIBRARY DESTINATION ${libdir})
endif()
install(EXPORT mxnet FILE mxnetTargets.cmake NAMESPACE mxnet:: DESTINATION ${libdir}/cmake/mxnet)
configure_package_config_file(cmake/mxnetConfig.cmake.in ${PROJECT_BINARY_DIR}/mxnetConfig.cmake
  INSTALL_DESTINATION ${libdir}/cmake/mxnet)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mxnetConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mxnetConfig.cmake ${PROJECT_BINARY_DIR}/mxnetConfigVersion.cmake
  DESTINATION ${libdir}/cmake/mxnet)
# For builds without CMake. Its paths are relative, so that a prefix and a wheel may lie anywhere.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${libdir}/pkgconfig OUTPUT_VARIABLE MXNET_PREFIX_OF_PC)
set(MXNET_INCLUDE_OF_PC ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/mxnet.pc.in ${PROJECT_BINARY_DIR}/mxnet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mxnet.pc DESTINATION ${libdir}/pkgconfig)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.inc")
# Names of dmlc-core and NNVM for users' sources. They are not beside include/, because this library is compiled with dmlc-core's own.
install(DIRECTORY compat/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(USE_ONEDNN)
  # Builds of extensions ask whether there is a folder mkldnn where the features say MKLDNN. Which oneDNN it is says this header.
  get_target_property(onednn_include DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
  install(FILES ${onednn_include}/oneapi/dnnl/dnnl_version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mkldnn)
endif()
install(FILES ${MXNET_OP_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mxnet-cpp)
if(SKBUILD AND MXNET_BINDING_TARGETS)
  install(TARGETS ${MXNET_BINDING_TARGETS} LIBRARY DESTINATION _cy3)
endif()
