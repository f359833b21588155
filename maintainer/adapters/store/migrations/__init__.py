"""The revisions of the store's schema, applied by maintainer.adapters.store.migrate.

`compatible_from` of a revision is the oldest revision whose version may still work on the schema.
If a revision only adds parts that an older version may leave out, it has the same `compatible_from`
as the revision before.
"""
