"""Pure: plans, budgets and running jobs decide what starts, and in which order."""
