"""Dashboard and alert rules speak of metrics and labels that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = DEPLOY / "grafana" / "goldcheck.json"
RULES = DEPLOY / "prometheus" / "goldcheck.rules.yml"


def queries() -> dict[str, str]:
    """Every query of both files, by where it stands."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    found = {
        f"panel {panel['title']} {target['refId']}": target["expr"]
        for panel in dashboard["panels"]
        for target in panel.get("targets", [])
    }
    for variable in dashboard["templating"]["list"]:
        found[f"variable {variable['name']}"] = variable["query"]["query"]
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        found |= {f"alert {rule['alert']}": rule["expr"] for rule in group["rules"]}
    return found


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The series that the service can show, and their labels."""
    metrics = Metrics(tmp_path_factory.mktemp("metrics"), "1.0.0")
    collectors: Any = metrics._registry._names_to_collectors
    return {name: set(collector._labelnames) for name, collector in collectors.items()}


@pytest.mark.parametrize("place", sorted(queries()))
def test_queries_name_what_is_there(registered: dict[str, set[str]], place: str) -> None:
    """Each series is registered, and selected by labels that it has."""
    query = queries()[place]
    series = re.findall(r"\b(goldcheck_\w+)(?:\{([^}]*)\})?", query)
    assert series
    for name, selectors in series:
        assert name in registered, name
        labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors))
        assert labels <= registered[name] | {"le"}, name


def test_every_metric_of_the_audit_is_shown(registered: dict[str, set[str]]) -> None:
    """What is measured is on the dashboard: series of one metric count as one."""
    shown = set(re.findall(r"\bgoldcheck_\w+", DASHBOARD.read_text(encoding="utf-8")))
    suffixes = r"_(total|bucket|count|sum|created)$"
    metrics = {re.sub(suffixes, "", name) for name in registered} - {"goldcheck_build_info"}
    assert metrics == {re.sub(suffixes, "", name) for name in shown}


def test_the_dashboard_can_be_imported() -> None:
    """Classic JSON: one data source that is asked for, panels with ids of their own that do not overlap."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert [entry["name"] for entry in dashboard["__inputs"]] == ["DS_PROMETHEUS"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    cells = [
        (x, y)
        for panel in dashboard["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert all(x < 24 for x, _ in cells)
