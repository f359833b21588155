"""The nouns: frozen values that all other layers use. They import nothing from the project."""
