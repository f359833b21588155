"""Policies from YAML files, with line numbers, and from Apache Polaris and Kubernetes."""
