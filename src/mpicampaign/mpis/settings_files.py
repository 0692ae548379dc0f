"""The files by which users and sites steer MPI libraries and the layers below: what their lines set.

After the sources that read them: Open MPI 4.1 and 5.0 (opal/mca/base/mca_base_var.c), PMIx 5
(src/mca/base/pmix_mca_base_var.c), PRRTE 3 (src/runtime/prte_init.c), UCX 1.18 (src/ucs/config/parser.c),
libfabric 2 (src/var.c, prov/psm3/psm3/utils/utils_env.c), MPICH 5 (--with-configfile). In each a variable of
the environment has precedence, but for files of overrides.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# The variable that a line stands for begins so, by the name of the file.
_PREFIXES = {
    r".*(/\.openmpi/|/openmpi-)mca-params.*\.conf": "OMPI_MCA_",
    r".*(/\.pmix/|/pmix-)mca-params.*\.conf": "PMIX_MCA_",
    r".*(/\.prte/|/prte-)mca-params.*\.conf": "PRTE_MCA_",
}
_SETTING = re.compile(r"\s*([\w.]+)\s*=\s*(.*?)\s*")


class FileSetting(NamedTuple):
    """A line as the variable that it stands for; ``overrides``: whatever the environment has."""

    variable: str
    value: str
    overrides: bool


def file_setting(path: str, reader: str, line: str) -> FileSetting | None:
    """What a line sets; None where it is no assignment, such as options of a launcher.

    ``reader``: the file name of the library that read it, since a variable may give the file any name.
    """
    match = _SETTING.fullmatch(line)
    if not match:
        return None
    by_path = (prefix for pattern, prefix in _PREFIXES.items() if re.fullmatch(pattern, path))
    by_reader = "OMPI_MCA_" if reader.startswith("libopen-pal") else ""
    return FileSetting(next(by_path, by_reader) + match[1], match[2], path.endswith("-override.conf"))
