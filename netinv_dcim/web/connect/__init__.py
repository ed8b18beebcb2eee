"""The page that connects a port: ports of two objects beside each other, and which of them fit."""
