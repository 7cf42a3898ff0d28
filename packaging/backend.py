"""hatchling as the build backend. From pip it hides that it knows the metadata without a build, since hooks of a build could add
dependencies; that of Weir (hatch_build.py) adds none, so that pip need not compile to know the version."""

import os

tracker = os.environ.pop("PIP_BUILD_TRACKER", None)
from hatchling.build import *  # noqa: E402, F403

if tracker is not None:
    os.environ["PIP_BUILD_TRACKER"] = tracker
