"""The world, one library each. Adapters do not know each other and decide nothing."""
