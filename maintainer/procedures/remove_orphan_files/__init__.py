"""The chapter of remove_orphan_files: nothing that another table needs is removed."""
