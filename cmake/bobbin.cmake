# How a folder becomes a target, and what it may see.
#
# bobbin_library(NAME DIR DEPS target…): a static library of every *.c in DIR, which may be none. Its headers are
# reached as "<last element of DIR>/x.h", and only by targets that name it in their DEPS: the include path is a folder
# of links, one folder a target, so the layers of docs/architecture.md are what the compiler sees.
#
# bobbin_headers(NAME DIR file…): headers of DIR without sources, the named ones or all, reached as "<last element of DIR>/x.h".
#
# bobbin_schemas(NAME DIR SYMBOL): the JSON schemas DIR/*.json become `const struct http_schema SYMBOL[]` of NAME.
#
# bobbin_program(NAME SOURCES … DEPS …): an installed program.
# The target `installed` builds all that `cmake --install` needs, and no test.
# bobbin_test(NAME SOURCES … DEPS …): a cmocka program run by ctest.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_custom_target(installed)

set(BOBBIN_SANITIZE "" CACHE STRING "value of -fsanitize=: empty, address,undefined or thread")

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
                    -fno-strict-aliasing -fno-common -fstack-protector-strong)
add_link_options(-Wl,-z,relro -Wl,-z,now)
add_compile_definitions(_GNU_SOURCE BOBBIN_VERSION="${PROJECT_VERSION}")
if(BOBBIN_SANITIZE)
  add_compile_options(-fsanitize=${BOBBIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${BOBBIN_SANITIZE})
endif()
option(BOBBIN_WERROR "warnings are errors" ON)
if(BOBBIN_WERROR)
  add_compile_options(-Werror)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(MHD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(IDN2 REQUIRED IMPORTED_TARGET libidn2)
pkg_check_modules(XML2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(LDNS REQUIRED IMPORTED_TARGET ldns)
pkg_check_modules(GNUTLS REQUIRED IMPORTED_TARGET gnutls)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)
pkg_check_modules(KRB5 REQUIRED IMPORTED_TARGET krb5-gssapi krb5)
pkg_check_modules(GSASL REQUIRED IMPORTED_TARGET libgsasl)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
find_program(PROTOC_C protoc-c REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

function(bobbin_library NAME DIR)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${DIR}/*.c)
  endif()
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${CMAKE_BINARY_DIR}/see/${NAME}-empty.c)
    file(WRITE ${ARG_SOURCES} "")
  endif()
  add_library(${NAME} STATIC ${ARG_SOURCES})
  get_filename_component(leaf ${DIR} NAME)
  set(links ${CMAKE_BINARY_DIR}/see/${NAME})
  file(MAKE_DIRECTORY ${links})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${DIR} ${links}/${leaf} SYMBOLIC)
  target_include_directories(${NAME} PUBLIC ${links})
  target_link_libraries(${NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

# bobbin_protobuf(NAME FILE…): what protoc-c makes of schemas of one folder; their headers are LEAF.pb-c.h after each file's name.
function(bobbin_protobuf NAME)
  set(out ${CMAKE_BINARY_DIR}/proto/${NAME})
  file(MAKE_DIRECTORY ${out})
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  foreach(file ${files})
    get_filename_component(leaf ${file} NAME_WE)
    get_filename_component(dir ${file} DIRECTORY)
    add_custom_command(OUTPUT ${out}/${leaf}.pb-c.c ${out}/${leaf}.pb-c.h
      COMMAND ${PROTOC_C} --c_out=${out} --proto_path=${dir} ${leaf}.proto
      DEPENDS ${files} VERBATIM)
    list(APPEND sources ${out}/${leaf}.pb-c.c ${out}/${leaf}.pb-c.h)
  endforeach()
  add_library(${NAME} STATIC ${sources})
  target_compile_options(${NAME} PRIVATE -w)
  target_include_directories(${NAME} SYSTEM PUBLIC ${out})
  target_link_libraries(${NAME} PUBLIC PkgConfig::PROTOBUF_C)
endfunction()

function(bobbin_schemas NAME DIR SYMBOL)
  set(dir ${CMAKE_SOURCE_DIR}/${DIR})
  set(out ${CMAKE_BINARY_DIR}/schemas/${SYMBOL}.c)
  set(script ${CMAKE_SOURCE_DIR}/cmake/schemas.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.json)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D DIR=${dir} -D SYMBOL=${SYMBOL} -D OUT=${out} -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
  target_sources(${NAME} PRIVATE ${out})
endfunction()

function(bobbin_headers NAME DIR)
  add_library(${NAME} INTERFACE)
  get_filename_component(leaf ${DIR} NAME)
  set(links ${CMAKE_BINARY_DIR}/see/${NAME})
  if(ARGN)
    file(MAKE_DIRECTORY ${links}/${leaf})
    foreach(header ${ARGN})
      file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${DIR}/${header} ${links}/${leaf}/${header} SYMBOLIC)
    endforeach()
  else()
    file(MAKE_DIRECTORY ${links})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${DIR} ${links}/${leaf} SYMBOLIC)
  endif()
  target_include_directories(${NAME} INTERFACE ${links})
endfunction()

function(bobbin_program NAME)
  cmake_parse_arguments(ARG "" "DESTINATION" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS})
  if(NOT ARG_DESTINATION)
    set(ARG_DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  install(TARGETS ${NAME} DESTINATION ${ARG_DESTINATION})
  add_dependencies(installed ${NAME})
endfunction()

function(bobbin_test NAME)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} PkgConfig::CMOCKA)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# bobbin_document(NAME SWITCH FILE DIRECTORY): what the program NAME prints of its tables with SWITCH, as an installed FILE.
function(bobbin_document NAME SWITCH FILE DIRECTORY)
  set(out ${CMAKE_BINARY_DIR}/documents/${FILE})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/documents)
  add_custom_command(OUTPUT ${out} COMMAND ${NAME} ${SWITCH} > ${out} DEPENDS ${NAME} VERBATIM)
  add_custom_target(${FILE} ALL DEPENDS ${out})
  add_dependencies(installed ${FILE})
  install(FILES ${out} DESTINATION ${DIRECTORY})
endfunction()

# The completion of a program's command line in bash: the functions, then the rows that the program prints.
function(bobbin_completion NAME)
  set(functions ${CMAKE_SOURCE_DIR}/conf/completion.bash)
  set(out ${CMAKE_BINARY_DIR}/documents/${NAME}.bash)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -E cat ${functions} > ${out} COMMAND ${NAME} --completion >> ${out}
                     DEPENDS ${NAME} ${functions} VERBATIM)
  add_custom_target(${NAME}.bash ALL DEPENDS ${out})
  add_dependencies(installed ${NAME}.bash)
  install(FILES ${out} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${NAME})
endfunction()

# The documents of a daemon: manual page, list of keys, completion.
function(bobbin_daemon_documents NAME)
  bobbin_document(${NAME} --man ${NAME}.8 ${CMAKE_INSTALL_MANDIR}/man8)
  bobbin_document(${NAME} --show-xml ${NAME}-default.xml ${CMAKE_INSTALL_DOCDIR})
  bobbin_completion(${NAME})
endfunction()
