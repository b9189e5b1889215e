"""Matchers: which entries of an image hold for a document, combining all slots."""
