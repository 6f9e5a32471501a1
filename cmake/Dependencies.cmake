# Third-party libraries, gathered in the interface target mxnet_deps. What each is for: docs/dependencies.md.

# Python first: the development environment (.venv, made by ./dev setup) also brings oneDNN and pybind11.
if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
set(Python_FIND_VIRTUALENV FIRST)
if(MXNET_BUILD_PYTHON AND NOT MXNET_PYTHON_HEADERS)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
  if(NOT Python_Development.Module_FOUND)  # said in words: pip shows the last lines alone
    message(FATAL_ERROR "The headers of Python ${Python_VERSION} (${Python_EXECUTABLE}) were not found. Install python3-dev (Debian, "
      "Ubuntu) or python3-devel (Fedora, RHEL), or build without the compiled binding, whose calls are 30 times as fast: "
      "-DMXNET_BUILD_PYTHON=OFF, with pip -C cmake.define.MXNET_BUILD_PYTHON=OFF")
  endif()
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
endif()

add_library(mxnet_deps INTERFACE)
target_include_directories(mxnet_deps INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
if(MXNET_BUNDLE)
  mxnet_bundle_highway()
  mxnet_bundle_dmlc()
  mxnet_bundle_protozero()
  mxnet_pypi_openblas()
else()
  find_package(hwy CONFIG REQUIRED)
  find_package(dmlc CONFIG REQUIRED)
  find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
  if(NOT PROTOZERO_INCLUDE_DIR)
    message(FATAL_ERROR "protozero was not found. Run ./dev setup, or apt-get install libprotozero-dev, or give "
      "-DPROTOZERO_INCLUDE_DIR=<its folder include>.")
  endif()
  find_path(CBLAS_INCLUDE_DIR cblas.h REQUIRED)
  find_library(OPENBLAS_LIBRARY openblas REQUIRED)
  target_include_directories(mxnet_deps SYSTEM INTERFACE ${CBLAS_INCLUDE_DIR})
endif()
target_include_directories(mxnet_deps SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})
target_link_libraries(mxnet_deps INTERFACE
  OpenMP::OpenMP_CXX hwy::hwy_contrib hwy::hwy dmlc::dmlc ${OPENBLAS_LIBRARY} Threads::Threads rt ${CMAKE_DL_LIBS})

if(USE_ONEDNN)
  # The wheel's files lie beside site-packages; its own list of files says where.
  execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/find_onednn.py
    OUTPUT_VARIABLE onednn_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(dnnl 3.2 CONFIG HINTS ${onednn_prefix})
  if(NOT dnnl_FOUND)
    message(FATAL_ERROR "oneDNN 3.2 or newer was not found. Run ./dev setup, or pip install onednn-devel-cpu-gomp into the Python "
      "that CMake uses (${Python_EXECUTABLE}), or give -Ddnnl_DIR=<folder of dnnl-config.cmake>, or build with -DUSE_ONEDNN=OFF.")
  endif()
  # pip lays build requirements into a folder of a new name each time, and ccache looks for the names of all folders that are
  # included. So the headers of .venv are taken, as in ./dev build, or, where it has no or others, a link of one name.
  get_target_property(onednn_include DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
  if(onednn_include MATCHES "/pip-[^/]*env-")
    get_filename_component(venv_include ${PROJECT_SOURCE_DIR}/.venv REALPATH)
    string(APPEND venv_include /include)
    set(version_header oneapi/dnnl/dnnl_version.h)
    file(SHA256 ${onednn_include}/${version_header} wanted)
    if(EXISTS ${venv_include}/${version_header})
      file(SHA256 ${venv_include}/${version_header} found)
    endif()
    if(NOT wanted STREQUAL found)
      set(venv_include ${PROJECT_BINARY_DIR}/dependencies/onednn)
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/dependencies)
      file(CREATE_LINK ${onednn_include} ${venv_include} SYMBOLIC)
    endif()
    set_target_properties(DNNL::dnnl PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${venv_include})
  endif()
  target_link_libraries(mxnet_deps INTERFACE DNNL::dnnl)
endif()

if(USE_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)  # sm_90 code plus PTX for what comes after
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin REQUIRED)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -DNDEBUG")
  find_package(CUDAToolkit 13 REQUIRED)
  set(cuda_hints HINTS ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_ROOT} PATHS /usr/local/cuda)
  find_path(CUDNN_INCLUDE_DIR cudnn.h ${cuda_hints} PATH_SUFFIXES include REQUIRED)
  find_library(CUDNN_LIBRARY cudnn ${cuda_hints} PATH_SUFFIXES lib lib64 REQUIRED)
  find_path(NCCL_INCLUDE_DIR nccl.h ${cuda_hints} PATH_SUFFIXES include REQUIRED)  # the library is opened where it is needed
  find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h ${cuda_hints} PATH_SUFFIXES include REQUIRED)  # headers only
  target_include_directories(mxnet_deps SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR} ${NCCL_INCLUDE_DIR} ${NVTX_INCLUDE_DIR})
  # Not libcuda: a library that needs the driver cannot be loaded on a machine without one. Compiled modules are loaded with the
  # runtime's cudaLibraryLoadData and cudaLibraryGetKernel.
  target_link_libraries(mxnet_deps INTERFACE
    CUDA::cudart CUDA::cublas CUDA::cublasLt CUDA::nvrtc ${CUDNN_LIBRARY})
endif()
