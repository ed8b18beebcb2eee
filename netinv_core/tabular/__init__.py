"""Tables: objects as rows of text cells (CSV, TSV), and back to the bodies that create or change them.

Columns come from the fields (:meth:`netinv_core.fields.Field.cell_columns`). Nothing here depends on a request.
"""
