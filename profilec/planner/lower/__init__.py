"""Normal forms to an image: the last pass of the compiler, and the only one that knows the runtime.

programs.py   scalars and three-valued conditions as stack programs
leaves.py     a leaf as a row of numbers: slot, comparison, constants
skeleton.py   a normal form as AND/OR over leaf rows and joins
entries.py    which conjunctions are indexed, by which access predicate, with which residual
build.py      rows and skeletons of all profiles to the arrays of one image
describe.py   a test of an image in the user's words
"""

from profilec.planner.lower.build import ImageBuilder
from profilec.planner.lower.skeleton import TooComplexError

__all__ = ["ImageBuilder", "TooComplexError"]
