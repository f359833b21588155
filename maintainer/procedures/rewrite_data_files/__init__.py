"""The chapter of rewrite_data_files."""
