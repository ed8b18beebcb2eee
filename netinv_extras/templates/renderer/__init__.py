"""The renderer: a child process that renders the templates of users, so that no template runs within the service or a worker.

Its modules are loaded without those of :mod:`netinv_extras` itself (:mod:`netinv_extras.templates.renderer.__main__`), so they import only each other,
the standard library and Jinja2. The parent's side is :mod:`netinv_extras.templates.renderer_pool`.
"""
