"""The documents, and the generator of those that follow from the code."""
