"""Policies that are resources of Kubernetes: IcebergTablePolicy."""
