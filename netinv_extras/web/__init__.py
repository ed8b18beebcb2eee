"""Pages of this application for the web interface. Imported only when ``netinv_web`` is installed, by its hooks."""
