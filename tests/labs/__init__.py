"""Laboratories: run by hand, and by nobody who only changes the product."""
