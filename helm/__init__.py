"""The Helm chart, and the generator of its schema and its documentation."""
