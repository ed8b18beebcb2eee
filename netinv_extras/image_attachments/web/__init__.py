"""Pages of image attachments."""
