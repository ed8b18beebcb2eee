"""The demo inventory on the home page. Imported only when ``netinv_web`` is installed, by its hooks."""
