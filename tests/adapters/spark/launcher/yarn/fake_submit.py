"""A small spark-submit: it keeps what it was given, and submits to the small manager."""

import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path

given = dict(zip(sys.argv[1:-1:2], sys.argv[2:-1:2], strict=True))
lines = Path(given["--properties-file"]).read_text(encoding="utf-8").splitlines()
settings = dict(line.split("=", 1) for line in lines)
kept = Path(os.environ["TEST_SUBMITTED"])
for name in [*given["--files"].split(","), *given["--py-files"].split(","), sys.argv[-1]]:
    shutil.copy2(name, kept)
(kept / "given.json").write_text(
    json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ), "settings": settings})
)
if os.environ.get("TEST_COMPLAINT"):
    print(os.environ["TEST_COMPLAINT"], file=sys.stderr)  # noqa: T201
    sys.exit(1)
application = {
    "name": settings["spark.app.name"],
    "tags": settings["spark.yarn.tags"],
    "queue": settings["spark.yarn.queue"],
}
url = os.environ["TEST_MANAGER"] + "/submit"
request = urllib.request.Request(url, json.dumps(application).encode())  # noqa: S310 - the test's own
urllib.request.urlopen(request).close()  # noqa: S310 - as above
