"""The local lake of the demo: real tables with real pathologies."""
