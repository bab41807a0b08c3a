"""A project with notes, and tags in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from maestro.coordinate.tags.tag_files import ProjectTags


@pytest.fixture
def project(place: Path) -> Path:
    made = place / "work"
    made.mkdir()
    (made / ".git").mkdir()
    return made


@pytest.fixture
def tags(project: Path) -> ProjectTags:
    return ProjectTags(str(project), os.environ)
