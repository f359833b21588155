"""The published experiments on small files, repeated on this machine: `make experiments`."""
