"""What the audit knows, as metrics."""

from __future__ import annotations

import re

import pytest
from serving import Client, serving, verify


def gauges(client: Client, name: str) -> dict[str, float]:
    """The values of a metric, by its labels."""
    text = client.get("/metrics").text
    return {
        labels: float(value) for labels, value in re.findall(rf"^{name}(\{{.*\}})? (.+)$", text, re.MULTILINE)
    }


def test_rates_and_labels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Labels are counted as they come; rates and what they rest on follow when the gauges are set anew."""
    with serving(tmp_path_factory.mktemp("gauges"), audit_durability="commit") as client:
        replies = [verify(client) for _ in range(40)]
        for reply in replies:
            label = {"answer": "correct", "labeler": "ann"}
            assert client.post(f"/v1/audit/verdicts/{reply['id']}/labels", json=label).status_code == 201
        assert gauges(client, "goldcheck_audit_labels_total") == {'{answer="correct"}': 40}
        assert gauges(client, "goldcheck_audit_error_ratio") == {}
        client.service.gauges.refresh()
        about = 'verifier="exact",version="1.0.0"'
        assert gauges(client, "goldcheck_audit_labelled") == {
            f'{{side="accept",{about}}}': 40,
            f'{{side="reject",{about}}}': 0,
        }
        ratios = gauges(client, "goldcheck_audit_error_ratio")
        assert len(ratios) == 4 * 3
        lower, upper = (ratios[f'{{bound="{bound}",rate="fdr",{about}}}'] for bound in ("lower", "upper"))
        assert lower == 0.0
        assert 0 < upper < 0.2
        assert gauges(client, "goldcheck_audit_incomplete_windows") == {"": 0}


def test_canaries_alarm(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """An accepted canary is counted and said aloud; its series begins with 0: alerts see the first one."""
    name, exact = "goldcheck_canary_accepts_total", '{verifier="exact"}'
    before = gauges(client, name)[exact]
    verify(client, ground_truth="another", meta={"canary": True})
    assert gauges(client, name)[exact] == before
    assert "canary accepted" not in caplog.text
    verify(client, meta={"canary": True, "data_source": "gsm8k"})
    assert gauges(client, name)[exact] == before + 1
    [line] = [record for record in caplog.records if "canary accepted" in record.getMessage()]
    assert line.levelname == "ERROR"
