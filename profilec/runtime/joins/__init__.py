"""Quantified joins: the truth of EXISTS and FORALL over the document store."""
