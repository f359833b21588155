"""Pure: health and policy make a plan. Every rule once, planned or skipped with a reason."""
