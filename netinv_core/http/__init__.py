"""HTTP: from requests to the rest of the core and back."""
