"""The recipe for conda-forge asks for what pyproject.toml asks for."""

import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMPILERS = {
    "linux-64": "gxx_linux-64",
    "osx-arm64": "clangxx_osx-arm64",
    "win-64": "vs2022_win-64",
}


def dependencies(text):
    """A list of requirements as pairs of a name and a version."""
    return {tuple(one.replace(">=", " >=").split()) for one in text}


def rendered(platform):
    """The recipe for a platform, without selectors and variables."""
    rattler = pytest.importorskip("rattler_build")
    target = rattler.PlatformConfig(target_platform=platform)
    variants = rattler.VariantConfig.from_file_with_context(
        ROOT / "recipe/variants.yaml", rattler.JinjaConfig(platform=target)
    )
    recipe = rattler.Stage0Recipe.from_file(ROOT / "recipe/recipe.yaml")
    (variant,) = recipe.render(variants, rattler.RenderConfig(platform=target))
    return json.loads(json.dumps(variant.recipe.to_dict()))


@pytest.mark.parametrize("platform", COMPILERS)
def test_requirements(platform):
    found = rendered(platform)
    needed = {kind: dependencies(found["requirements"][kind]) for kind in ("host", "run")}
    assert COMPILERS[platform] in found["requirements"]["build"]
    others = {("python",), ("pip",)} | ({("llvm-openmp",)} if platform == "osx-arm64" else set())
    assert needed["host"] - others == dependencies(PROJECT["build-system"]["requires"])
    extra = PROJECT["project"]["optional-dependencies"]["cli"]
    assert needed["run"] - {("python",)} == dependencies(
        [*PROJECT["project"]["dependencies"], *extra]
    )


def test_commands_and_license():
    found = rendered("linux-64")
    ((name, function),) = PROJECT["project"]["scripts"].items()
    assert found["build"]["python"]["entry_points"] == [f"{name} = {function}"]
    assert found["about"]["license"] == PROJECT["project"]["license"]
    assert found["about"]["summary"] == PROJECT["project"]["description"]
