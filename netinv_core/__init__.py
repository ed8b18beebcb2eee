"""netinv's engine: it serves any model of any package from one declaration, and knows no application."""
