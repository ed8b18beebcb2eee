"""Pages of this application for the web interface."""
