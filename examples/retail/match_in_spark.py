"""Sales in a Spark DataFrame, matched against the grocery profiles: in SQL, and over the DataFrame.

python examples/retail/match_in_spark.py
"""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import profilec
import profilec.spark

EXAMPLES = Path(__file__).parents[1]

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
spark = (
    SparkSession.builder.master("local[2]")
    .appName("match_in_spark")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)

profiles = profilec.compile(
    [EXAMPLES / "grocery" / "schema.prof", EXAMPLES / "grocery" / "deals.prof", EXAMPLES / "grocery" / "catalogue.prof"]
)
sales = spark.read.json(str(EXAMPLES / "retail" / "sales.ndjson"))
sales.createOrReplaceTempView("sales")

# In SQL: a function that gives each row the ids of the profiles that it matches.
profilec.spark.register(spark, profiles, schema=sales)
spark.sql("""
    SELECT profile, count(*) AS sales, round(sum(sales_value), 2) AS value
    FROM (SELECT sales_value, explode(match_profiles(struct(*))) AS profile FROM sales)
    GROUP BY profile
    ORDER BY sales DESC, profile
""").show(truncate=False)

# Why did a sale match?
explained = spark.sql("SELECT why_profiles(struct(*), 'cheap_milk') FROM sales WHERE product_id = 1029743 LIMIT 1")
print(explained.first()[0], end="\n\n")

# Over the DataFrame: a row for each match, with the columns that say which sale it is.
pairs = profilec.spark.match(profiles, sales, "pairs", columns=["week", "store_id", "product_id"])
pairs.where("profile = 'half_price'").orderBy("week", "store_id", "product_id").show(5, truncate=False)

spark.stop()
