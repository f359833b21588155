"""Pure: what is. From inventories to health, and from two healths to an effect."""
