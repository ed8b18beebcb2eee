"""Change log: change sets, their records, the sequence of commits."""
