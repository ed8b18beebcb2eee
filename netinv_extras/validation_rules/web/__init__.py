"""Pages of validation rules."""
