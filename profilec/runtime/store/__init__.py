"""The document store: the earlier documents that quantified joins range over."""
