"""Writes the chart's generated files: python -m helm.generator."""
