"""Change log over HTTP: the resource and the feed."""
