"""The tools of make setup."""
