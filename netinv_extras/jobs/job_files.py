"""Files beside the module of a job, which it reads with ``load_yaml`` and ``load_json``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from netinv_extras.git import files


def document(module: str, name: str, suffix: str) -> Any:
    """Returns the value of a file in the folder of a module, read as JSON or YAML as the suffix says.

    :raises ValueError: if the file is in another folder, or not in that format
    :raises OSError: if it cannot be read
    """
    folder = Path(getattr(sys.modules[module], "__file__", None) or "").parent
    if not folder.is_absolute():
        raise FileNotFoundError(f"{name}: of a Git repository only the modules of jobs are there when a job runs.")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name} is not in the folder of the job.")
    try:
        return files.DataFileReader().document(f"{path.name}{suffix}", path.read_bytes())
    except files.FileFault as error:
        raise ValueError(f"{name}: {error}") from None
