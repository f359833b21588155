"""Pure: decides from plans, budgets and running jobs what starts, and in which order."""
