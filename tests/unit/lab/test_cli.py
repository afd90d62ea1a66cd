"""The command line: bad input is one sentence, never a traceback; nothing is started."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ansible_collections.jumbo.fabric.lab.cli import main

BROKEN = "all: {hosts: {s1: {ansible_network_os: eos, jumbo_links: [['s1:Ethernet1', 'nobody:Ethernet1']]}}}\n"


def sentences(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("lab: ")
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize(
    "verb", [["status"], ["status", "--json"], ["events"], ["reboot", "h1"], ["exec", "h1", "true"]]
)
def test_without_a_lab_it_says_how_to_start_one(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--dir", str(tmp_path / "none"), *verb]) == 1
    text = sentences(capsys)
    assert "no lab is running" in text
    assert "make lab" in text


def test_down_without_a_lab_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dir", str(tmp_path / "none"), "down"]) == 0
    assert "no lab in" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-i", "/nowhere"], "there is no inventory /nowhere"),
        (["-i", "BROKEN"], "nobody"),
        (["--fault", "no-such-fault"], "this fault is not known"),
    ],
)
def test_bad_input_starts_nothing(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(BROKEN)
    given = [str(broken) if word == "BROKEN" else word for word in arguments]
    assert main(["--dir", str(tmp_path / "lab"), "up", *given]) == 1
    assert words in sentences(capsys)
    assert not (tmp_path / "lab").exists()


def test_the_folder_comes_from_the_option_the_environment_or_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ansible.cfg").touch()
    (tmp_path / "deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep/er")
    monkeypatch.delenv("JUMBO_LAB_DIR", raising=False)
    main(["down"])
    assert capsys.readouterr().out == f"lab: no lab in {tmp_path}/.lab\n"
    monkeypatch.setenv("JUMBO_LAB_DIR", str(tmp_path / "elsewhere"))
    main(["down"])
    assert capsys.readouterr().out == f"lab: no lab in {tmp_path}/elsewhere\n"
    main(["down", "--dir", str(tmp_path / "given")])
    assert capsys.readouterr().out == f"lab: no lab in {tmp_path}/given\n"


def test_missing_programs_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shutil.which
    monkeypatch.setattr("shutil.which", lambda name, path=None: None if name == "nft" else found(name, path=path))
    assert main(["--dir", str(tmp_path / "lab"), "up"]) == 1
    assert sentences(capsys).rstrip().endswith("Run: sudo apt-get install --no-install-recommends nftables")
