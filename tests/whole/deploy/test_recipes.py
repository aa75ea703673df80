"""Recipes to run reshardctl elsewhere can be read, and use only options that commands have."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main
import yaml

from reshardctl.cli.app import application, run
from scripts.pages.terraform_policies import FOLDER, VARIABLES, WANTED
from scripts.pages.terraform_policies import policies as templates
from tests.whole.test_iam import policies

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
ACTION = yaml.safe_load((DEPLOY / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
SNAPSHOT = ROOT / "tests" / "golden" / "files-0.2" / "kcl" / "stream.snapshot"
"""A stream with RSH203, and its lease table."""


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a command line, parsed and not run; raises for what the command lacks."""
    command: Any = typer.main.get_command(application())
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    return command.make_context("reshardctl", list(words)).params


# Kubernetes


def objects(kind: str) -> dict[str, dict[str, Any]]:
    """The objects of a kind in all recipes, by name."""
    texts = [path.read_text(encoding="utf-8") for path in KUBERNETES]
    every = [each for text in texts for each in yaml.safe_load_all(text)]
    return {each["metadata"]["name"]: each for each in every if each["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    """The pod of each job and cron job."""
    once = {name: job["spec"]["template"]["spec"] for name, job in objects("Job").items()}
    again = {
        name: job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for name, job in objects("CronJob").items()
    }
    return once | again


def arguments(pod: str) -> list[str]:
    (container,) = pods()[pod]["containers"]
    return container["args"]


POD_NAMES = ["reshardctl-plan", "reshardctl-apply", "reshardctl-inspect"]
each_pod = pytest.mark.parametrize("pod", POD_NAMES)


def test_the_pods_are_these():
    assert set(pods()) == set(POD_NAMES)


@each_pod
def test_the_command_takes_the_arguments(pod):
    assert parsed(arguments(pod))


def test_an_option_that_does_not_exist_would_be_noticed():
    with pytest.raises(Exception, match="No such option"):
        parsed([*arguments("reshardctl-plan"), "--force"])


@each_pod
def test_a_pod_is_not_root_and_cannot_become_it(pod):
    """The restricted profile of Kubernetes' Pod Security Standards."""
    spec = pods()[pod]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert re.search(rf"--uid {spec['securityContext']['runAsUser']}\b", DOCKERFILE)


@each_pod
def test_a_pod_has_no_token_of_the_cluster(pod):
    """Nothing of it calls Kubernetes. AWS's token is another volume, which EKS projects."""
    assert pods()[pod]["automountServiceAccountToken"] is False


@pytest.mark.parametrize("account", ["reshardctl-inspect", "reshardctl-fix"])
def test_no_account_gives_its_token_to_a_pod(account):
    assert objects("ServiceAccount")[account]["automountServiceAccountToken"] is False


@each_pod
def test_only_the_pod_that_applies_has_the_role_that_writes(pod):
    account = "reshardctl-fix" if pod == "reshardctl-apply" else "reshardctl-inspect"
    assert pods()[pod]["serviceAccountName"] == account
    role = objects("ServiceAccount")[account]["metadata"]["annotations"]
    assert role["eks.amazonaws.com/role-arn"].endswith(f":role/{account}")


@each_pod
def test_what_a_pod_mounts_is_there(pod):
    spec = pods()[pod]
    (container,) = spec["containers"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    assert volumes["config"]["configMap"]["name"] in objects("ConfigMap")
    for volume in volumes.values():
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        assert claim is None or claim in objects("PersistentVolumeClaim")
    mounted = tuple(mount["mountPath"] for mount in container["volumeMounts"])
    paths = [word.partition("=")[2] or word for word in arguments(pod) if "/" in word]
    assert all(path.startswith((*mounted, "s3://")) for path in paths), paths


def test_the_cron_job_reads_and_the_plan_writes_nothing():
    assert arguments("reshardctl-inspect")[0] == "inspect"
    assert parsed(arguments("reshardctl-plan"))["dry_run"] is True
    plan = parsed(arguments("reshardctl-plan"))["out"]
    assert str(parsed(arguments("reshardctl-apply"))["plan"]) == str(plan)


def test_the_configuration_holds_together(tmp_path):
    text = objects("ConfigMap")["reshardctl"]["data"]["reshardctl.toml"]
    (tmp_path / "reshardctl.toml").write_text(text)
    done = reshardctl("config", "check", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert arguments("reshardctl-plan")[1] in tomllib.loads(text)["consumers"]


# GitHub action and pre-commit hook


def reshardctl(*words: str, folder: Path) -> SimpleNamespace:
    """A command in this process, which works in a folder."""
    with chdir(folder), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = int(run(list(words)))
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def step(name: str) -> dict[str, Any]:
    (wanted,) = [each for each in ACTION["runs"]["steps"] if each.get("name") == name]
    return wanted


Ended = tuple[int, str, dict[str, str]]
"""The exit code, stdout and outputs of the action's step."""


def passed(folder: Path, programs: Path, given: dict[str, str]) -> Ended:
    """The action's step with these inputs and the `reshardctl` of a folder."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | given
    environment = {
        variable: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for variable, value in step("Inspect")["env"].items()
    }
    outputs = folder / "outputs"
    outputs.unlink(missing_ok=True)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Inspect")["run"]],
        env=os.environ | environment | {"PATH": path, "GITHUB_OUTPUT": str(outputs)},
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    lines = outputs.read_text(encoding="utf-8").splitlines()
    return done.returncode, done.stdout, dict(line.split("=", 1) for line in lines)


def inspected(folder: Path, **given: str) -> Ended:
    """The step, whose `reshardctl` first writes down its words. This process runs them, and the
    second time it answers with what came of that: a process of its own takes longer."""
    programs = folder / "programs"
    programs.mkdir()
    (program := programs / "reshardctl").write_text(
        f'#!/bin/bash\ncd "{programs}"\nif [ -e out ]; then cat out; exit "$(<code)"; fi\n'
        'printf "%s\\0" "$@" >asked\n'
    )
    program.chmod(0o755)
    ended = passed(folder, programs, given)
    if (asked := programs / "asked").exists():
        words = asked.read_text(encoding="utf-8").split("\0")[:-1]
        done = reshardctl(*words, folder=folder)
        (programs / "code").write_text(str(done.returncode))
        (programs / "out").write_text(done.stdout)
        ended = passed(folder, programs, given)
    return ended


def test_the_action_annotates_and_writes_sarif(tmp_path):
    """The program as it is installed."""
    programs = Path(sys.executable).parent
    code, out, outputs = passed(tmp_path, programs, {"consumers": f"\nsnapshot:{SNAPSHOT}\n"})
    assert code == 1 and "::error title=RSH203" in out
    assert outputs == {"exit-code": "1", "sarif": "reshardctl.sarif"}
    sarif = json.loads((tmp_path / outputs["sarif"]).read_text())
    assert "RSH203" in {result["ruleId"] for result in sarif["runs"][0]["results"]}


def test_the_action_takes_text_for_text(tmp_path):
    """A locator with shell syntax is a locator that nobody knows, and runs nothing."""
    hostile = "$(touch pwned)`touch pwned`"
    code, _, outputs = inspected(tmp_path, consumers=hostile, stream='"; touch pwned')
    assert (code, outputs["exit-code"]) == (2, "2")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("consumers", [
    "--format\ntext=victim", "--output=victim", "-o\nvictim", "--debug\nvictim", "--debug=victim",
    f"snapshot:{SNAPSHOT}\n--fail-on=never", "--quiet", "--",
])
def test_no_consumer_is_an_option(tmp_path, consumers):
    (tmp_path / "victim").write_text("as it was")
    code, out, outputs = inspected(tmp_path, consumers=consumers, stream="orders")
    assert (code, outputs["exit-code"]) == (2, "2"), out
    assert (tmp_path / "victim").read_text() == "as it was"


@pytest.mark.parametrize("name", ["sarif", "stream", "config", "fail-on"])
def test_no_input_makes_an_output_of_its_own(tmp_path, name):
    given = {name: "r.sarif\nexit-code=0\nother=injected"}
    code, out, outputs = inspected(tmp_path, consumers=f"snapshot:{SNAPSHOT}", **given)
    assert (code, outputs) == (2, {"exit-code": "2"})
    assert out.startswith("::error title=reshardctl::")


@pytest.mark.parametrize(("name", "value"), [
    ("stream", "--output"), ("config", "--output"), ("sarif", "--format=text=victim"),
])
def test_no_value_of_an_input_is_an_option(tmp_path, name, value):
    (tmp_path / "victim").write_text("as it was")
    inspected(tmp_path, consumers="victim", **{name: value})
    assert (tmp_path / "victim").read_text() == "as it was"


def test_every_action_is_pinned_to_a_commit():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    used = [each["uses"] for each in ACTION["runs"]["steps"] if "uses" in each]
    used += re.findall(r"^  - uses: (\S+)", page, re.M)
    assert len(used) == 5
    for action in used:
        ours = action == "ORG/reshardctl/deploy@COMMIT"
        assert ours or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)


def test_the_action_installs_only_what_has_a_hash(tmp_path):
    """Seen by a pip that writes down what it is told. The package itself brings nothing along."""
    told = installed(tmp_path)
    locked = [words[-1] for words in told if "--require-hashes" in words]
    assert locked == [f"A/scripts/requirements/{name}.lock" for name in ("build", "run")]
    (package,) = [words for words in told if "--require-hashes" not in words]
    assert package[-2:] == ["--", "-evil"]
    assert {"--no-deps", "--no-build-isolation"} <= set(package)


def checkout() -> str:
    """Where the action looks for the package and its locks, if the checkout is this tree."""
    return step("Install reshardctl")["env"]["CHECKOUT"].replace(
        "${{ github.action_path }}", str(DEPLOY)
    )


def test_the_action_finds_the_package_and_its_locks():
    """GitHub fetches the whole repository; `action_path` is the folder of action.yml in it."""
    assert Path(checkout()).samefile(ROOT)


def test_the_action_takes_dependencies_of_extras(tmp_path):
    assert "my.lock" in {words[-1] for words in installed(tmp_path, REQUIREMENTS="my.lock")}


def installed(folder: Path, **given: str) -> list[list[str]]:
    """The words of every call to pip by the action's step."""
    binary = folder / "venv" / "bin"
    binary.mkdir(parents=True)
    log = folder / "calls"
    for path, text in (
        (binary / "pip", f'printf "%s\\x1f" "$@" >>{log}; echo >>{log}'), (folder / "python", ":"),
    ):
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)
    own = {"PACKAGE": "-evil", "CHECKOUT": "A", "REQUIREMENTS": "",
           "VENV": str(folder / "venv"), "GITHUB_PATH": str(folder / "path")}  # fmt: skip
    assert set(step("Install reshardctl")["env"]) | {"GITHUB_PATH"} == set(own)
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
         step("Install reshardctl")["run"]],
        env={**own, **given, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        cwd=folder, timeout=60, check=True,
    )  # fmt: skip
    return [line.split("\x1f")[:-1] for line in log.read_text().splitlines()]


def test_the_action_passes_what_is_left():
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", ""), "an input must come as a variable"
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


def test_the_action_may_end_well(tmp_path):
    code, _, outputs = inspected(tmp_path, consumers=f"snapshot:{SNAPSHOT}", **{"fail-on": "never"})
    assert (code, outputs["exit-code"]) == (0, "0")


def test_the_hook_checks_the_file(tmp_path):
    program, *words = HOOK["entry"].split()
    assert program == "reshardctl" and re.match(HOOK["files"], "reshardctl.toml")
    assert HOOK["pass_filenames"] is False
    (tmp_path / "reshardctl.toml").write_text('[streams.orders]\nname = "x"\n')
    done = reshardctl(*words, folder=tmp_path)
    assert done.returncode == 2 and "reshardctl.toml:2" in done.stderr
    (tmp_path / "other.toml").write_text(
        '[streams.orders]\n[consumers.a]\nstream = "orders"\nlocator = "kcl://orders-reader"\n'
    )
    assert reshardctl(*words, "--config", "other.toml", folder=tmp_path).returncode == 0


# Terraform


def test_terraforms_policies_are_those_of_the_page():
    written = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert written == templates(), "run: python -m scripts.pages terraform_policies"


@pytest.mark.parametrize("policy", WANTED)
def test_a_template_allows_what_the_page_allows(policy):
    text = (FOLDER / f"{policy}.json").read_text(encoding="utf-8")
    variables = {name: example for example, name in reversed(VARIABLES.items())}
    for variable, example in sorted(variables.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(variable, example)
    assert json.loads(text) == policies()[policy]


def test_terraform_attaches_them_and_gives_their_variables():
    main = (DEPLOY / "terraform" / "main.tf").read_text(encoding="utf-8")
    arns = re.search(r"arns = \{(.*?)\n  \}", main, re.DOTALL)
    needed = set(re.findall(r"\$\{(\w+)\}", "".join(templates().values())))
    assert arns and set(re.findall(r"^ +(\w+) +=", arns[1], re.M)) == needed
    attached = re.search(r"\n  policies = \{(.*?\n  \}\n  naming .*?)\n", main, re.DOTALL)
    assert attached and set(re.findall(r'"(\w+)"', attached[1])) == set(WANTED)
    names = set(re.findall(r"\bvar\.(\w+)", main))
    declared = (DEPLOY / "terraform" / "variables.tf").read_text(encoding="utf-8")
    assert names == set(re.findall(r'^variable "(\w+)"', declared, re.M))


# The image


def test_the_image_has_a_pinned_base_and_no_root():
    stages = re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    assert len(stages) == 2
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", stage) for stage in stages)
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.M)
    assert users == ["10001:10001"]
    assert DOCKERFILE.index("USER") > DOCKERFILE.rindex("RUN"), "nothing runs as root afterwards"


def test_the_image_is_built_from_what_the_context_sends():
    """What COPY names is let through by Dockerfile.dockerignore, and is there."""
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    kept = re.findall(r"^!(\S+)$", ignored, re.M)
    copied: set[str] = set()
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.M):
        copied |= set(line.split()[:-1])
    assert copied == set(kept)
    assert all((ROOT / name).exists() for name in copied)
