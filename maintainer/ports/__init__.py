"""Protocols: what the steps need of the world. Adapters implement them; tests have fakes of the
same name.
"""
