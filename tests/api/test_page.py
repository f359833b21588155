from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.api.serving import Client, expect_problem

SCRIPT = "console.log('ours');" * 100


@pytest.fixture
def built(client: Client, tmp_path: Path) -> Client:
    """A page as vite builds it, with a file beside its directory that is nobody's business."""
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>ours</title>")
    (page / "icon.svg").write_text("<svg/>")
    (page / "assets" / "index-3f0c.js").write_text(SCRIPT)
    (page / "assets" / "index-3f0c.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (page / "assets" / "plain-77aa.css").write_text("body{}")
    (tmp_path / "secret.txt").write_text("secret")
    client.page = page
    return client


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/tables/lake/sales/orders",
        "/jobs/job-1?tab=events",
        "/tables/lake/a%2Fb/x.y",
    ],
)
def test_every_path_of_the_page_gets_index_html_uncached(built: Client, path: str) -> None:
    response = built.get(path)
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-cache")
    assert "<title>ours</title>" in response.text
    assert response.headers["content-type"].startswith("text/html")


def test_assets_are_cached_for_long_and_served_compressed(built: Client) -> None:
    response = built.get("/assets/index-3f0c.js", {"Accept-Encoding": "gzip, br"})
    assert response.text == SCRIPT
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["vary"] == "Accept-Encoding"
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    for path in ("/api/v1/tables", "/api/v1/session", "/readyz", "/api/v1/nothing"):
        assert built.get(path).headers["cache-control"] == "no-store", path


@pytest.mark.parametrize(
    ("path", "accepts"), [("/assets/index-3f0c.js", "identity"), ("/assets/plain-77aa.css", "gzip")]
)
def test_what_is_not_compressed_or_not_accepted_so_is_served_plain(
    built: Client, path: str, accepts: str
) -> None:
    response = built.get(path, {"Accept-Encoding": accepts})
    assert response.status_code == 200
    assert "content-encoding" not in response.headers


def test_other_files_of_the_page_are_not_cached_for_long(built: Client) -> None:
    response = built.get("/icon.svg")
    assert (response.text, response.headers["cache-control"]) == ("<svg/>", "no-cache")


def test_an_asset_that_is_gone_is_a_404_and_not_the_page(built: Client) -> None:
    expect_problem(built.get("/assets/index-old.js"), 404)
    expect_problem(built.get("/api/v1/nothing"), 404)


@pytest.mark.parametrize(
    "path",
    [
        "/..%2Fsecret.txt",
        "/assets/..%2F..%2Fsecret.txt",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/assets/%2Fetc%2Fpasswd",
        "/" + "x" * 5000,
    ],
)
def test_nothing_outside_the_page_is_served(built: Client, path: str) -> None:
    response = built.get(path)
    assert "secret" not in response.text.replace(path, "")
    assert "root:" not in response.text
    assert response.status_code in {200, 404}


def test_a_page_that_is_not_built_says_how_to_build_it(client: Client) -> None:
    response = client.get("/")
    assert response.status_code == 200
    assert "make web" in response.text
    assert client.get("/tables").status_code == 404


def test_a_head_request_has_headers_only(built: Client) -> None:
    response = built.send("HEAD", "/")
    assert (response.status_code, response.content) == (200, b"")


def test_the_page_and_the_api_are_served_below_a_prefix_and_without_it(built: Client) -> None:
    """A proxy may leave the prefix in; probes come past the proxy."""
    index = '<meta name="prefix" content="" /><script src="/assets/index-3f0c.js"></script>'
    (built.page / "index.html").write_text(index)
    built.daemon.prefix = "/data/maintainer"
    for prefix in ("", "/data/maintainer"):
        page = built.get(f"{prefix}/tables/lake/a%2Fb/x.y").text
        assert page == index.replace('content=""', 'content="/data/maintainer"').replace(
            '"/assets', '"/data/maintainer/assets'
        )
        assert built.get(f"{prefix}/assets/index-3f0c.js").text == SCRIPT
        assert built.get(f"{prefix}/livez").status_code == 200
        assert built.get(f"{prefix}/api/v1/tables/lake/sales/orders").status_code == 200
    assert built.get("/data/maintainer").text == built.get("/").text
    expect_problem(built.get("/data/maintainer/api/v1/nothing"), 404)
    assert built.get("/data/maintainers/livez").headers["content-type"].startswith("text/html")
