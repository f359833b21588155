"""The endpoint that drivers poll. All orders and messages are in the store."""
