"""Documentation site: static files below ``/docs/``, for everybody.

`make docs` and `make dist` build the site into the folder ``site`` of this package, which git does not track. Its pages
contain no data of a service, and their links are relative, so they need no mount point.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyramid.httpexceptions import HTTPException
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED
from pyramid.static import static_view

from netinv_core.errors import NotAllowed, NotFound
from netinv_web.pages import see_other

PATH = "/docs/"
ALLOW = ("GET", "HEAD")
FOLDER = Path(__file__).parent / "site"
INDEX = "index.html"
MAX_AGE = 3600  # seconds
# Bootstrap has images in its style sheet; tables are aligned by style attributes. The search runs in a web worker,
# whose files need the policy, too.
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_files = static_view(str(FOLDER), cache_max_age=MAX_AGE, use_subpath=True)


def is_built() -> bool:
    """True when there is a site."""
    return (FOLDER / INDEX).is_file()


def documentation(context: Any, request: Request) -> Response:
    """A file of the site.

    :raises NotFound: for a file that does not exist; says how to build the site, if nothing does
    """
    if request.method not in ALLOW:
        raise NotAllowed(request.method, ", ".join(ALLOW))
    if not is_built():
        raise NotFound("The documentation is not built: `make docs` does so, and packages made by `make dist` have it.")
    try:
        response: Response = _files(context, request)
    except HTTPException as error:
        if error.status_int == NotFound.status:
            raise NotFound() from None
        return see_other(f"{request.path}/")  # a folder; the path begins at the mount point
    response.headers["Content-Security-Policy"] = POLICY
    return response


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_route("documentation", f"{PATH}*subpath")
    config.add_view(documentation, route_name="documentation", permission=NO_PERMISSION_REQUIRED)
