"""What a distribution must hold besides the sources that are in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("maintainer/api/page/index.html")


class PageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own signature
    """Refuses a wheel or an sdist without the web page, which the daemon would only miss when asked
    for it.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Check that the page is built; an editable installation finds it when it is."""
        if version != "editable" and not (Path(self.root) / PAGE).is_file():
            message = (
                f"the web page is not built: {PAGE} is missing in {self.root}; build it with "
                f"`make web`, then build again"
            )
            raise FileNotFoundError(message)
