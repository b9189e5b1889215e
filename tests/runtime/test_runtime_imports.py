"""What importing the runtime loads, and what it must not."""

import subprocess
import sys

import pytest

HEAVY = ("pyarrow", "pandas", "re2", "pyroaring", "ahocorasick_rs", "numpy")
FOREIGN = ("lark", "sqlglot", "networkx", "profilec.grammar", "profilec.planner")


def loaded_by(statement):
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_the_package_loads_nothing_heavy():
    assert not loaded_by("import profilec.runtime") & {*HEAVY, *FOREIGN}


@pytest.mark.parametrize("module", ["image", "program"])
def test_what_the_planner_imports_is_light(module):
    assert not loaded_by(f"import profilec.runtime.{module}") & {*HEAVY[:-1], *FOREIGN}


def test_matching_a_document_needs_neither_arrow_nor_pandas_nor_the_compiler():
    statement = (
        "import numpy as np; from profilec.runtime.execute import Executor; from profilec.runtime.image import Image;"
        "i, b = np.zeros(0, np.int32), np.zeros(0, np.uint8); o = np.zeros(1, np.int32);"
        "image = Image(0, (), i, o, i, i, b, i, b, (), (), (), o, i, i, i, o, i, o, i.reshape(0, 2));"
        "executor = Executor(image, 'scan');"
        "assert [executor.match({'a': 1}).tolist() for _ in range(200)] == [[]] * 200"
    )
    assert not loaded_by(statement) & {"pyarrow", "pandas", "re2", "ahocorasick_rs", "numba", *FOREIGN}
