"""Follows sales as they come: each is matched against those before it, then joins them."""

import json
from pathlib import Path

import profilec

GROCERY = Path(__file__).parent / "grocery"

watch = profilec.compile([GROCERY / "schema.prof", GROCERY / "history.prof"])
with (GROCERY / "sales.ndjson").open() as file:
    for line in file:
        sale = json.loads(line)
        if "cheapest_so_far" in watch.process(sale):
            price = sale["sales_value"] / sale["quantity"]
            print(f"week {sale['week']:2}: {sale['product_category']} for {price:.2f}")
print(f"{len(watch.documents)} sales remembered")
