"""Proofs that no committed change goes untold: real processes that are killed at the worst moments."""
