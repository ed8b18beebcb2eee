"""Files of an import form: chosen in the browser, or kept in hidden members by the step before."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from netinv_core.errors import BadRequest
from netinv_core.storage.files import Upload
from netinv_web.bulk.selection import Members
from netinv_web.forms.control_values import is_upload

FILE = "file"  # the member with the chosen files
CONTENT, NAME = "_content", "_file"  # members with uploaded files in the further steps: their Base64, their names
CHANGED = "The uploaded file was not sent again as it was. Choose it again."


def chosen_files(members: Members) -> list[Upload]:
    """The files that were chosen."""
    return [value for value in members.get(FILE, ()) if is_upload(value) and value.content]


def kept_files(members: Members) -> list[Upload]:
    """The files of the step before.

    :raises BadRequest: for members that are not as the step before has made them
    """
    names, contents = members.get(NAME, ()), members.get(CONTENT, ())
    try:
        files = [
            Upload(str(name) or "file", base64.b64decode(str(content), validate=True))
            for name, content in zip(names, contents, strict=True)
        ]
    except (binascii.Error, ValueError):
        raise BadRequest(CHANGED) from None
    return [file for file in files if file.content]


def hidden_members(files: Sequence[Upload]) -> list[tuple[str, str]]:
    """The hidden members that carry files to the next step."""
    return [
        pair
        for file in files
        for pair in ((CONTENT, base64.b64encode(file.content).decode()), (NAME, file.name or "file"))
    ]
