"""What make setup needs beyond the package itself."""
