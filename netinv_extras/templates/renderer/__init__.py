"""Renderer: child process for the templates of users, so that no template runs within the service or a worker.

Its modules import only each other, the standard library, and the libraries that
:data:`netinv_extras.templates.renderer_pool.LIBRARIES` lists, because they are loaded without the package
:mod:`netinv_extras` (see ``__main__``). The parent's side is :mod:`netinv_extras.templates.renderer_pool`.
"""
