"""Numbers with a currency, a percent sign or thousands separators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hssvm.exceptions import DataWarning
from hssvm.tables import TableEncoder

READ = {
    "in $, thousands separators": (["$1,200", "$950.5", "-$3", None], [1200, 950.5, -3, np.nan]),
    "in €, thousands separators": (["1 200 €", "7\u00a0€", "€12\u202f000.25"], [1200, 7, 12000.25]),
    "in €": (["€5", "5.5€", "+6 €"], [5, 5.5, 6]),
    "in %": (["12 %", "-3.5%", "n/a"], [12, -3.5, np.nan]),
    "thousands separators": (["1 200", "15", "1 000 000"], [1200, 15, 1e6]),
}


@pytest.mark.parametrize("separated", [
    ["1,200", "950", "7"], ["1,200,300", "1,201"], ["1,200.5", "3,300"], ["$1,234", "$1,235"],
])  # fmt: skip
def test_commas_that_cannot_be_decimal(separated):
    expected = [float(text.replace(",", "").replace("$", "")) for text in separated]
    encoder = TableEncoder()
    values = encoder.fit_transform(pd.DataFrame({"x": separated * 20}))
    assert_array_equal(values[: len(separated), 0], np.float32(expected))
    assert "thousands separators" in encoder.describe()


@pytest.mark.parametrize("details", READ)
def test_formats(details, rng):
    text, expected = READ[details]
    frame = pd.DataFrame({"x": text * 20, "other": rng.random(20 * len(text))})
    encoder = TableEncoder()
    values = encoder.fit_transform(frame)
    known = ~np.isnan(expected)
    assert_allclose(values[: len(text), 0][known], np.array(expected)[known])
    missing = f", {20 * (~known).sum()} missing" * (not known.all())
    assert encoder.describe().splitlines()[0] == f"x      numbers  {details}{missing}"
    assert values.shape[1] == 2 + (not known.all())
    alone = [encoder.transform(frame.iloc[[row]]) for row in range(len(text))]
    assert_array_equal(np.concatenate(alone), values[: len(text)])


@pytest.mark.parametrize("values", [
    ["$5", "€6"], ["$5", "6"], ["12 %", "0.12"], ["$5", "five"], ["12 34", "1 200"],
    ["1,200", "1 200"], ["1,125", "2", "3,375"], ["1,200 €", "1,300 €"], ["$5%", "$6%"],
    ["007 123", "008 123"], ["--5 %", "+-6 %"], ["\u0661 %", "\u0662 %"],
])  # fmt: skip
def test_columns_without_one_format_are_categories(values):
    """Also those whose commas may be decimal commas."""
    encoder = TableEncoder().fit(pd.DataFrame({"x": values * 20}))
    assert encoder.columns_[0].kind == "categories"


def test_commas_that_may_be_decimal_are_refused():
    with pytest.raises(ValueError, match=r"'x' cannot be encoded .*decimal commas"):
        TableEncoder().fit(pd.DataFrame({"x": ["1,234", "5,678"]}))


def test_new_values_in_another_format_count_as_missing():
    encoder = TableEncoder().fit(pd.DataFrame({"x": ["$1,000", "$2,000", None]}))
    new = pd.DataFrame({"x": ["$3,000.50", "5", "€1,000", "$1 000", "NA", "$7"]})
    with pytest.warns(DataWarning, match="'x' contains numbers, but 3 of its .* example '5'"):
        found = encoder.transform(new)
    mean = [1500, 1]
    assert found.tolist() == [[3000.5, 0], mean, mean, mean, mean, [7, 0]]


def test_the_user_decides():
    frame = pd.DataFrame({"x": ["$1,000", "$2,000", "$3,000"] * 20})
    encoder = TableEncoder(categorical=["x"]).fit(frame)
    assert encoder.columns_[0].details == "3 levels"
    encoder = TableEncoder(numeric=["x"]).fit(frame)
    assert encoder.columns_[0].details == "in $, thousands separators"
    assert TableEncoder().fit(frame.astype("category")).columns_[0].kind == "categories"


def test_a_few_values_without_the_format_count_as_missing():
    frame = pd.DataFrame({"x": ["$1,200", "$950"] * 30 + ["about $7"]})
    with pytest.warns(DataWarning, match=r"1 of its values cannot be read.*'about \$7'"):
        encoder = TableEncoder().fit(frame)
    assert encoder.columns_[0].kind == "numbers"
    half = pd.DataFrame({"x": ["$1,200", "call us"] * 30})
    assert TableEncoder().fit(half).columns_[0].kind == "categories"
    with pytest.warns(DataWarning, match="30 of its values cannot be read"):
        values = TableEncoder(numeric=["x"]).fit_transform(half)
    assert_array_equal(values[0], [1200, 0])


def test_numbers_are_read_alike_whatever_their_type():
    encoder = TableEncoder().fit(pd.DataFrame({"x": ["1,200.5", "3,300", "7"] * 10}))
    numbers = [1e-05, 2.5e17, 1200.5, 3.0]
    found = encoder.transform(pd.DataFrame({"x": numbers}))
    assert_allclose(found[:, 0], numbers, rtol=1e-6)
    text = encoder.transform(pd.DataFrame({"x": ["0.00001", "250000000000000000", "1,200.5", "3"]}))
    assert_array_equal(found, text)
