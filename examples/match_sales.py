"""Matches a file of sales against a folder of profiles and counts what each profile caught."""

import json
from collections import Counter
from pathlib import Path

import profilec

GROCERY = Path(__file__).parent / "grocery"

profiles = profilec.compile(GROCERY)
with (GROCERY / "sales.ndjson").open() as file:
    sales = [json.loads(line) for line in file]

# One call for all of them. Quantified joins range over profiles.documents, which is empty here.
batch = profiles.match_batch(sales)
caught = Counter(profile for matched in batch for profile in matched)
for profile in ("half_price", "pizza & coke", "unknown_product"):
    print(f"{caught[profile]:3} sales match {profile}")

# Why does the first sale not match?
print(profiles.why(sales[0], "cheap_milk"))
