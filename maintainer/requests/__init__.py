"""The requests of people: each function stores a request, which the steps carry out."""
