"""Rows of tables: values as text cells, and rows about objects by their natural keys; files are in ``netinv_tabular``.

Columns come from the fields (:meth:`netinv_core.fields.Field.cell_columns`). Nothing here depends on a request.
"""
