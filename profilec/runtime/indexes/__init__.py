"""Attribute indexes: which entries hold a test on this slot that contains a rank."""
