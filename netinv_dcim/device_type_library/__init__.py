"""Import of device types from a folder of YAML files, where netinv-import is installed (the extra ``library``)."""

import importlib.util

IS_AVAILABLE = importlib.util.find_spec("netinv_import") is not None

TYPES = "device-types"  # the folder of their files
MAX_TYPES = 500  # device types of one upload; more take longer than a browser waits
MAX_PARTS = 50_000  # components of the device types of one upload
MAX_REPOSITORY_PARTS = 1_000_000  # components of the device types of one Git repository
MAX_SIZE = 8 * 2**20  # bytes of their files
UNLIMITED = "netinv import devicetypes has no limit."
