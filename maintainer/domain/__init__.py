"""The nouns: frozen values that every other layer speaks in; they import nothing of the project."""
