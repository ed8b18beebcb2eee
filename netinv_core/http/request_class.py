"""Class of requests with the methods and properties that packages add (``config.add_request_method``), made once.

Pyramid makes such a class for each request. That takes 3 to 8 % of the processor time of small requests, as Python
looks up the attributes of an unknown class without its caches.
"""

from __future__ import annotations

from typing import Any

from pyramid.request import apply_request_extensions
from pyramid.response import Response
from pyramid.router import Router


def keep_request_class(app: Router) -> None:
    """Has an application make its requests, and those of subrequests, of one class.

    Call it when the application is complete.
    """
    extensions, factory = app.request_extensions, app.request_factory
    if extensions is None or not isinstance(factory, type):
        return
    made = type(factory.__name__, (factory,), {**extensions.descriptors, **extensions.methods})
    made.__module__ = factory.__module__
    invoke = app.invoke_subrequest

    def invoke_subrequest(request: Any, use_tweens: bool = False) -> Response:
        """As :meth:`pyramid.router.Router.invoke_subrequest`."""
        if type(request) is factory:
            request.__class__ = made
        elif not isinstance(request, made):
            apply_request_extensions(request, extensions)
        return invoke(request, use_tweens)

    app.request_factory, app.request_extensions, app.invoke_subrequest = made, None, invoke_subrequest
