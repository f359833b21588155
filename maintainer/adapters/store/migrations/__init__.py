"""The revisions of the store's schema, applied by maintainer.adapters.store.migrate.

Each names in `compatible_from` the oldest revision whose version may still work on its schema: that
of the revision before, if it only adds and an older version may leave out what it adds.
"""
