"""Pure: how a rewrite of data files is limited to a part of the work."""
