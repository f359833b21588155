"""Pure: why a rule that is due does not run now."""
