"""Pure: the policy of a table, combined from layers."""
