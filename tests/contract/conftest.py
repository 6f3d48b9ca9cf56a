"""A registryd on each store, and the C API on it; a module with other wishes has a registry of its own."""
import pytest

from harness import STORES, Registry, store_url
from operations import Library


@pytest.fixture(scope="module", params=STORES)
def registry(request):
    with store_url(request.param) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.admin.users": "alice"}}) as r:
            yield r


@pytest.fixture(scope="module")
def library(registry):
    made = Library(registry)
    yield made
    made.close()
