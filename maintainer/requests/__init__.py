"""What people ask for: each function stores a request, which the steps carry out."""
