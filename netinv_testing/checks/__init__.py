"""The checks of the contract, one module a subject."""
