"""Files of the device type library on the import page of device types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookimpl
from netinv_core.storage.files import Upload
from netinv_dcim.device_type_library import IS_AVAILABLE, MAX_TYPES
from netinv_dcim.device_types import DeviceType
from netinv_web.file_imports import FileImport, FilesResult, ImportOption

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HELP = (
    "Also files of the community's device type library: YAML files with their pictures, or an archive of them (.zip, "
    f".tar.gz), at most {MAX_TYPES} device types at once. Manufacturers are made as they are needed; types are "
    "recognised by manufacturer and model."
)


EXACT = ImportOption(
    "exact",
    "Components exactly as in the files",
    "For files of the library. What a file does not say of a component is the default, and components that it does not"
    " have are deleted from the type. Devices keep theirs until the type is applied to them.",
)


@hookimpl
def netinv_web_file_imports(endpoint: Endpoint) -> Iterable[FileImport]:
    """The import of files of the library, for device types."""
    if IS_AVAILABLE and endpoint.model is DeviceType:
        extensions = (".zip", ".tar.gz", ".tgz", ".png", ".jpg")
        yield FileImport("device-type-library", HELP, extensions, takes, run, options=[EXACT])


def takes(files: Sequence[Upload]) -> bool:
    """True for an archive, and for YAML that describes a device type."""
    from netinv_dcim.web import device_type_upload  # local import: PyYAML takes 1 MiB of each process

    return device_type_upload.takes(files)


def run(uow: UnitOfWork, files: Sequence[Upload], *, exact: bool) -> FilesResult:
    """Imports files; see :func:`netinv_dcim.web.device_type_upload.run`."""
    from netinv_dcim.web import device_type_upload  # local import, as in :func:`takes`

    return device_type_upload.run(uow, files, exact=exact)
