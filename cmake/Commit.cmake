# Branch and commit of the checkout, for MXGetBranch and MXGetCommitHash. Only libmxnet.so holds them, so that a commit compiles one small file.
set(MXNET_GIT_BRANCH "")
set(MXNET_GIT_COMMIT "")
find_program(GIT git)
if(GIT)
  foreach(pair "MXNET_GIT_COMMIT;HEAD" "MXNET_GIT_BRANCH;--abbrev-ref;HEAD" "git_top;--show-toplevel" "git_log;--git-path;logs/HEAD")
    list(POP_FRONT pair variable)
    execute_process(COMMAND ${GIT} rev-parse ${pair} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE ${variable} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endforeach()
  if(NOT git_top STREQUAL PROJECT_SOURCE_DIR)  # a copy of the sources inside some other repository
    set(MXNET_GIT_BRANCH "")
    set(MXNET_GIT_COMMIT "")
  else()
    get_filename_component(git_log "${git_log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${git_log})  # grows with every commit and checkout
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${git_log})
    endif()
  endif()
endif()
# A source distribution has the commit in a file (./dev wheel --sdist).
set(commit_file ${PROJECT_SOURCE_DIR}/third_party/commit.txt)
if(MXNET_GIT_COMMIT STREQUAL "" AND EXISTS ${commit_file})
  file(STRINGS ${commit_file} lines)
  list(GET lines 0 MXNET_GIT_COMMIT)
  list(GET lines 1 MXNET_GIT_BRANCH)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/commit.cc.in ${PROJECT_BINARY_DIR}/commit.cc @ONLY)
