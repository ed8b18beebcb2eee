"""Forms for objects: controls of fields, pickers, errors, merging, deletion."""
