"""Drivers that any launcher starts and that call home: their owner's side."""
