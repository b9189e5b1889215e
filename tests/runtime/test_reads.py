"""The paths of documents that profiles read."""

from __future__ import annotations

from profilec import compile
from profilec.runtime.reads import EARLIER, paths_read


def test_paths_of_new_and_of_earlier_documents() -> None:
    conditions = {
        "bodies": "ANY items AS i (i.sku = 'x' AND i.qty > user.max AND ANY(i.codes) = 1)",
        "flattened": "ANY(tags.name) = 'x'",
        "expressions": "LOWER(brand) = 'acme' AND price < list_price AND title ILIKE 'a%'",
        "joins": "EXISTS d WHERE (d.shop = shop) WITHIN INTERVAL '1 day' OF sold.at (d.a.b = c AND d.e > 3)",
    }
    profiles = compile(conditions)
    new = {"brand", "c", "items", "items.sku", "items.qty", "items.codes", "list_price", "price", "shop", "sold.at"}
    new |= {"tags.name", "title", "user.max"}
    assert {".".join(parts) for parts in paths_read(profiles._image)} == new
    earlier = {".".join(parts) for parts in paths_read(profiles._image, EARLIER)}
    assert earlier == {"a.b", "e", "shop", "sold.at"}
