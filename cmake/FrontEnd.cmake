# The C++ front end, include/mxnet-cpp: headers alone. Its functions of operators, op.h, are written from the library's records.
add_executable(generate_op_header ${PROJECT_SOURCE_DIR}/tools/generate_op_header.cc)
target_link_libraries(generate_op_header PRIVATE mxnet)
set_target_properties(generate_op_header PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)

set(MXNET_OP_HEADER ${PROJECT_BINARY_DIR}/include/mxnet-cpp/op.h)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/mxnet-cpp)
set(op_header_environment ASAN_OPTIONS=detect_leaks=0)   # what the library keeps until exit is no leak of the generator
if(CMAKE_BUILD_WITH_INSTALL_RPATH)
  # The paths in libmxnet.so are those of an installed package, so the linker cannot see what the libraries there define.
  target_link_options(generate_op_header PRIVATE -Wl,--allow-shlib-undefined)
  get_filename_component(folder ${OPENBLAS_LIBRARY} DIRECTORY)
  set(folders $<TARGET_FILE_DIR:mxnet>:${folder})
  if(USE_ONEDNN)
    string(APPEND folders :$<TARGET_FILE_DIR:DNNL::dnnl>)
  endif()
  list(APPEND op_header_environment LD_LIBRARY_PATH=${folders})
endif()
add_custom_command(OUTPUT ${MXNET_OP_HEADER} DEPENDS generate_op_header mxnet
  COMMAND ${CMAKE_COMMAND} -E env ${op_header_environment}
          ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:generate_op_header> ${MXNET_OP_HEADER}
  COMMENT "Writing mxnet-cpp/op.h")
add_custom_target(op_header ALL DEPENDS ${MXNET_OP_HEADER})

add_library(mxnet_cpp INTERFACE)
add_library(mxnet::cpp ALIAS mxnet_cpp)
add_dependencies(mxnet_cpp op_header)
set_target_properties(mxnet_cpp PROPERTIES EXPORT_NAME cpp)
target_link_libraries(mxnet_cpp INTERFACE mxnet)
target_include_directories(mxnet_cpp INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
