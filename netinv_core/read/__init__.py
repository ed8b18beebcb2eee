"""Reading: from query parameters to representations."""
