"""What is known of the documents to come: a uniform sample of documents, and what that says of each attribute.

In: documents, or a file of statistics. Out: `Statistics`, which can be merged, written and read.
"""

from profilec.planner.statistics.attributes import AttributeStatistics, Bucket
from profilec.planner.statistics.sample import Statistics, StatisticsError

__all__ = ["AttributeStatistics", "Bucket", "Statistics", "StatisticsError"]
