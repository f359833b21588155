"""Pure: health and policy become a plan, with each rule once: planned or skipped."""
