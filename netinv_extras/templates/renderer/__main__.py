"""Starts the renderer: ``python -I -S __main__.py '{"paths": …, "progress": …, "memory": …}'``, a socket as its standard input.

Run by its path, in isolated mode: neither the environment nor site-packages decide what is imported, and :mod:`netinv_extras`, whose
``__init__`` loads the service, is replaced by an empty package in the same folder.
"""

import importlib
import json
import pathlib
import sys
import types

LATE = ("calendar", "pprint", "textwrap", "encodings.ascii", "encodings.latin_1")  # used by filters and methods, when nothing can be imported any more


def main() -> None:
    """Sets the process up and serves until the other side closes the socket."""
    options = json.loads(sys.argv[1])
    sys.path += options["paths"]
    package = types.ModuleType("netinv_extras")
    package.__path__ = [str(pathlib.Path(__file__).parent.parent.parent)]
    sys.modules["netinv_extras"] = package
    for name in LATE:
        importlib.import_module(name)
    from netinv_extras.templates.renderer import limits
    from netinv_extras.templates.renderer.worker import Worker

    worker = Worker(0, options["progress"])
    sys.path.clear()
    limits.set_limits(options["memory"])
    limits.refuse_system()
    worker.serve()


if __name__ == "__main__":
    main()
