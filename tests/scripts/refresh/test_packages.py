"""Karpenter's table of prices, in the form of its version 1.14.0."""

import pytest

from experiment.errors import SplitbedError
from scripts.refresh.packages import parsed

TABLE = """
package pricing

// generated at 2026-07-06T14:20:29Z for us-east-1

var InitialOnDemandPricesAWS = map[string]map[ec2types.InstanceType]float64{
\t// us-east-1
\t"us-east-1": {
\t\t// m7g family
\t\t"m7g.12xlarge": 1.958400, "m7g.2xlarge": 0.326400,
\t\t"p6-b200.48xlarge": 113.932800,
\t},
}
"""


def test_prices_are_read_with_their_date() -> None:
    found = parsed(TABLE)

    assert list(found) == ["us-east-1"]
    assert found["us-east-1"]["date"] == "2026-07-06"
    assert found["us-east-1"]["usd"] == {"m7g.12xlarge": 1.9584, "m7g.2xlarge": 0.3264, "p6-b200.48xlarge": 113.9328}


@pytest.mark.parametrize("table", ["", TABLE.replace("// generated", "// made"), TABLE.replace("0", "none")])
def test_a_table_of_another_form_is_refused(table: str) -> None:
    with pytest.raises(SplitbedError, match="Its form has changed"):
        parsed(table)
