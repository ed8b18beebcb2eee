"""Entry point of the renderer: ``python -I -S __main__.py '{"paths": …, "progress": …, "memory": …}'``.

Standard input is the socket to the service. The file is run by its path in isolated mode, so that imports depend
neither on the environment nor on site-packages. The package :mod:`netinv_extras`, whose ``__init__`` loads the
service, is replaced by an empty one in the same folder.
"""

import importlib
import json
import pathlib
import sys
import types

# modules that filters and methods import on first use, when imports are refused
LATE = ("calendar", "pprint", "textwrap", "encodings.ascii", "encodings.latin_1")


def main() -> None:
    """Sets the process up and serves until the service closes the socket."""
    options = json.loads(sys.argv[1])
    sys.path += options["paths"]
    package = types.ModuleType("netinv_extras")
    package.__path__ = [str(pathlib.Path(__file__).parent.parent.parent)]
    sys.modules["netinv_extras"] = package
    for name in LATE:
        importlib.import_module(name)
    from netinv_extras.templates.renderer import limits, plugin_filters
    from netinv_extras.templates.renderer.worker import Worker

    filters, failed = plugin_filters.load(options["filters"])
    worker = Worker(0, options["progress"], filters, failed)
    sys.path.clear()
    limits.set_limits(options["memory"])
    limits.refuse_system()
    worker.serve()


if __name__ == "__main__":
    main()
