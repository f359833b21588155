"""HTTP in: one router per resource, schemas of what goes over the wire."""
