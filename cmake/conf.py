"""Write core-site.xml and yarn-site.xml with every option of the programs, commented out at its default: `./dev conf`.

    /usr/bin/python3 cmake/conf.py BIN_DIR DIR

BIN_DIR has the programs, whose --show-defaults is what their option tables say (lib/run/options.h:options_show). Keys of yarn.*
go into yarn-site.xml, all others into core-site.xml: as in Hadoop.
"""
import os
import re
import subprocess
import sys
import textwrap
from xml.sax.saxutils import escape

PROGRAMS = ("registryd", "dnsd", "svcmgr", "bobbin")
HEADS = {
    "core-site.xml": "Options of Bobbin, each commented out at its default: the registry, DNS, and what all programs share.",
    "yarn-site.xml": "Options of Bobbin, each commented out at its default: services and the resource manager.",
}
FORMAT = """To set an option remove the two comment marks around its <property> and change its <value>. An option without a
default has no <value> here; without one it is not set.

Both files are Hadoop's own. registryd, dnsd, svcmgr and bobbin read them from the directory of their switch config, else
of HADOOP_CONF_DIR, and skip the keys of other programs. A later file wins over an earlier one (core-site.xml, then
hdfs-site.xml where there is one, then yarn-site.xml) unless the property has <final>true</final>; -D KEY=VALUE wins over
all. A value may hold ${other.key} and ${env.NAME}. `NAME -t` reports every error with file:line.

`./dev conf` writes these files from the option tables of the programs: change an option there."""


def rows(bin_dir, program):
    """(key, default or None, type and range, prose) of a program's table, in its order."""
    text = subprocess.run([os.path.join(bin_dir, program), "--show-defaults"], capture_output=True, text=True, check=True).stdout
    lines = text.splitlines()
    for head, kind, prose in zip(lines[::3], lines[1::3], lines[2::3]):
        key, default = re.fullmatch(r"([^ =]+)(?:=(.*)| \(unset\))", head).groups()
        yield key, default, kind.strip(), prose.strip()


def options(bin_dir):
    """{key: [(program, default, kind, prose)]}: one entry for all programs that agree."""
    found = {}
    for program in PROGRAMS:
        for key, *row in rows(bin_dir, program):
            entries = found.setdefault(key, [])
            if program == "bobbin" and entries:
                entries[0][0].append(program)  # its table is a part of the daemons'
                continue
            same = next((e for e in entries if e[1:] == row), None)
            if same:
                same[0].append(program)
            else:
                entries.append([[program], *row])
    return found


def comment(text):
    """Text within <!-- -->, wrapped."""
    lines = textwrap.wrap(text.replace("--", "- -"), 118, break_long_words=False, break_on_hyphens=False)
    return "\n       ".join(lines)


def entry(key, entries):
    out = []
    for programs, default, kind, prose in entries:
        out.append(f"  <!-- {comment(prose)}\n       {comment(kind[0].upper() + kind[1:])}. "
                   f"Default: {default if default else 'unset'}. Read by {', '.join(programs)}. -->\n")
    default = next((default for _, default, _, _ in entries if default), None)
    value = f"    <value>{escape(default)}</value>\n" if default else ""
    out.append(f"  <!--\n  <property>\n    <name>{key}</name>\n{value}  </property>\n  -->\n\n")
    return "".join(out)


def main(bin_dir, out_dir):
    found = options(bin_dir)
    for name, head in HEADS.items():
        with open(os.path.join(out_dir, name), "w", encoding="utf-8") as f:
            f.write(f"<?xml version=\"1.0\"?>\n<!-- {head}\n\n{FORMAT} -->\n<configuration>\n\n")
            f.writelines(entry(key, entries) for key, entries in found.items() if key.startswith("yarn.") == (name == "yarn-site.xml"))
            f.write("</configuration>\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
