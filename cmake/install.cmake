# What `cmake --install` lays down beside the programs (bobbin_program) and what they print of themselves (bobbin_document).
# docs/install.md has the list; tests/e2e/test_install.py installs and uses it.

install(DIRECTORY include/bobbin DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# What `bobbin dev` and the documents speak of: services, master files.
install(DIRECTORY conf/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bobbin/examples)
# What Apache Knox reads: docs/knox.md.
install(DIRECTORY conf/knox DESTINATION ${CMAKE_INSTALL_DATADIR}/bobbin)
install(DIRECTORY zones DESTINATION ${CMAKE_INSTALL_DATADIR}/bobbin)

install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)

configure_file(${CMAKE_SOURCE_DIR}/cmake/install_system.cmake.in ${CMAKE_BINARY_DIR}/install_system.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/install_system.cmake)
