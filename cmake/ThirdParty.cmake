# Libraries that PyPI does not have. Where the system has none either, they are compiled from their sources, the ones that
# Debian's packages are made of, and become part of our libraries. Used with MXNET_BUNDLE. A source distribution has the
# archives in third_party/; otherwise they come from Debian's server.
set(MXNET_THIRD_PARTY
  "highway_1.0.3.orig.tar.gz|h/highway|566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e"
  "dmlc-core_0.5.orig.tar.gz|d/dmlc-core|cd97475ae1ecf561a1cb1129552f9889d52b11b3beb4c56e5345d007d5020ece"
  "protozero_1.8.1.orig.tar.gz|p/protozero|6c7a896f1dc08435e8cd4f3780ff688cd0bfce6890599b755f6f3cb36398dc25"
  "libjpeg-turbo_2.1.5.orig.tar.gz|libj/libjpeg-turbo|254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c")

# mxnet_third_party(name variable): the folder of the unpacked sources of `name`.
function(mxnet_third_party name variable)
  set(row ${MXNET_THIRD_PARTY})
  list(FILTER row INCLUDE REGEX "^${name}_")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 archive)
  list(GET row 1 pool)
  list(GET row 2 checksum)
  set(folder ${PROJECT_BINARY_DIR}/third_party/${name})
  if(NOT EXISTS ${folder}.${checksum})
    set(file ${PROJECT_SOURCE_DIR}/third_party/${archive})
    if(NOT EXISTS ${file})
      set(file ${PROJECT_BINARY_DIR}/third_party/${archive})
      set(url http://deb.debian.org/debian/pool/main/${pool}/${archive})
      file(DOWNLOAD ${url} ${file} TIMEOUT 300 STATUS status)
      if(NOT status MATCHES "^0;")
        message(FATAL_ERROR "${url} cannot be fetched: ${status}. Build from the source distribution, which has it in third_party/, "
          "or install ${name} and give -DMXNET_BUNDLE=OFF.")
      endif()
    endif()
    file(SHA256 ${file} found)
    if(NOT found STREQUAL checksum)
      message(FATAL_ERROR "${file} has the SHA-256 ${found}; accepted: ${checksum}.")
    endif()
    file(REMOVE_RECURSE ${folder} ${folder}.unpacked)
    file(ARCHIVE_EXTRACT INPUT ${file} DESTINATION ${folder}.unpacked)
    file(GLOB top ${folder}.unpacked/*)
    file(RENAME ${top} ${folder})
    file(REMOVE_RECURSE ${folder}.unpacked)
    file(TOUCH ${folder}.${checksum})
  endif()
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()

# Highway's sorting, which one file of ours calls.
function(mxnet_bundle_highway)
  find_package(hwy CONFIG QUIET)
  if(hwy_FOUND)
    return()
  endif()
  mxnet_third_party(highway source)
  set(sorting vqsort vqsort_u16a vqsort_u32a vqsort_u64a vqsort_128a)   # the types of keys that it sorts, ascending
  list(TRANSFORM sorting REPLACE "(.+)" "${source}/hwy/contrib/sort/\\1.cc")
  add_library(mxnet_highway STATIC ${sorting}
    ${source}/hwy/aligned_allocator.cc ${source}/hwy/per_target.cc ${source}/hwy/print.cc ${source}/hwy/targets.cc)
  target_include_directories(mxnet_highway SYSTEM PRIVATE ${source})
  target_compile_options(mxnet_highway PRIVATE -w -fno-exceptions -fmerge-all-constants)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/operator/indexing/order_cpu.cc APPEND PROPERTY INCLUDE_DIRECTORIES ${source})
  add_library(hwy::hwy ALIAS mxnet_highway)
  add_library(hwy::hwy_contrib ALIAS mxnet_highway)
endfunction()

# Headers alone.
function(mxnet_bundle_dmlc)
  find_package(dmlc CONFIG QUIET)
  if(dmlc_FOUND)
    return()
  endif()
  mxnet_third_party(dmlc-core source)
  file(WRITE ${source}/include/dmlc/build_config.h "#include \"./build_config_default.h\"\n")
  add_library(mxnet_dmlc INTERFACE)
  target_include_directories(mxnet_dmlc SYSTEM INTERFACE ${source}/include)
  add_library(dmlc::dmlc ALIAS mxnet_dmlc)
endfunction()

# Headers alone, for ONNX files.
function(mxnet_bundle_protozero)
  find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
  if(PROTOZERO_INCLUDE_DIR)
    return()
  endif()
  mxnet_third_party(protozero source)
  set(PROTOZERO_INCLUDE_DIR ${source}/include CACHE PATH "" FORCE)
endfunction()

# libjpeg-turbo's own build. Its loops for x86-64 need nasm; without, decoding takes two or three times as long.
function(mxnet_bundle_jpeg)
  include(ExternalProject)
  mxnet_third_party(libjpeg-turbo source)
  set(prefix ${PROJECT_BINARY_DIR}/third_party/jpeg)
  set(library ${prefix}/lib/libjpeg.a)
  set(toolchain)
  if(CMAKE_TOOLCHAIN_FILE)
    set(toolchain -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
    foreach(variable IN LISTS MXNET_TOOLCHAIN_VARIABLES)
      list(APPEND toolchain -D${variable}=${${variable}})
    endforeach()
  endif()
  ExternalProject_Add(mxnet_libjpeg SOURCE_DIR ${source} BINARY_DIR ${prefix}/build INSTALL_DIR ${prefix} BUILD_BYPRODUCTS ${library}
    CMAKE_ARGS ${toolchain} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${prefix} -DCMAKE_INSTALL_LIBDIR=lib -DENABLE_SHARED=OFF
      -DCMAKE_POLICY_VERSION_MINIMUM=3.5   # its lists are older than what CMake 4 accepts
      -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}   # pip's build environment, and the Ninja in it, is a new folder each time
      -DWITH_TURBOJPEG=OFF -DWITH_JAVA=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_VISIBILITY_PRESET=hidden
    BUILD_COMMAND ${CMAKE_COMMAND} --build . --target jpeg-static
    INSTALL_COMMAND ${CMAKE_COMMAND} -E copy libjpeg.a ${library})
  add_library(mxnet_jpeg_static STATIC IMPORTED GLOBAL)
  set_target_properties(mxnet_jpeg_static PROPERTIES IMPORTED_LOCATION ${library})
  target_include_directories(mxnet_jpeg_static SYSTEM INTERFACE ${source} ${prefix}/build)
  add_dependencies(mxnet_jpeg_static mxnet_libjpeg)
  add_library(JPEG::JPEG ALIAS mxnet_jpeg_static)
endfunction()

# OpenBLAS of the PyPI package scipy-openblas32, whose functions have names that begin with scipy_.
function(mxnet_pypi_openblas)
  if(NOT MXNET_OPENBLAS)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import os, scipy_openblas32; print(os.path.dirname(scipy_openblas32.__file__))"
      OUTPUT_VARIABLE MXNET_OPENBLAS OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT EXISTS ${MXNET_OPENBLAS}/lib/libscipy_openblas.so)
    message(FATAL_ERROR "The Python package scipy-openblas32 was not found. pip install it into the Python that CMake uses "
      "(${Python_EXECUTABLE}), or give -DMXNET_BUNDLE=OFF, which takes OpenBLAS of the system.")
  endif()
  set(names openblas_set_num_threads openblas_get_num_threads)
  foreach(type s d)
    foreach(routine gemm syrk trmm trsm)
      list(APPEND names cblas_${type}${routine})
    endforeach()
    foreach(routine bdsdc geev sterf)
      list(APPEND names ${type}${routine}_)
    endforeach()
  endforeach()
  list(TRANSFORM names REPLACE "(.+)" "\\1=scipy_\\1")
  foreach(file shared/gemm_cpu.cc linalg/factors/lapack.cc)
    set(file ${PROJECT_SOURCE_DIR}/src/operator/${file})
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS "${names}")
    set_property(SOURCE ${file} APPEND PROPERTY INCLUDE_DIRECTORIES ${MXNET_OPENBLAS}/include)
  endforeach()
  set(OPENBLAS_LIBRARY ${MXNET_OPENBLAS}/lib/libscipy_openblas.so PARENT_SCOPE)
endfunction()
