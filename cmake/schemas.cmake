# Writes OUT: C with every JSON schema of DIR in an array SYMBOL of struct http_schema, ended by a name NULL.
file(GLOB files ${DIR}/*.json)
list(SORT files)
set(texts "")
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const char json_${name}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", json_${name}},\n")
endforeach()
file(WRITE ${OUT} "#include \"http/server.h\"\n\n${texts}\nextern const struct http_schema ${SYMBOL}[];\n"
  "const struct http_schema ${SYMBOL}[] = {\n${rows}    {0},\n};\n")
