"""The revisions of the store's schema, applied by maintainer.adapters.store.migrate."""
