"""Policy files: YAML with line numbers."""
