"""Each attack by itself, so that no other file's fault hides it: untrusted it is refused, and leaves nothing."""

from __future__ import annotations

import pytest
from tests.hostile.attacks import NEVER, WORKING, Attack
from tests.hostile.scene import UNTRUSTED, staged
from tests.patience import until
from tests.support import Maestro, some_in_test


def _by_name(attack: Attack) -> str:
    return attack.name


@pytest.mark.parametrize("attack", some_in_test(WORKING, of=len(WORKING)), ids=_by_name)
def test_untrusted_it_is_refused(maestro: Maestro, attack: Attack) -> None:
    with staged(maestro, attack.files) as scene:
        before = scene.surroundings()
        done = scene(*attack.words)
        assert scene.repository.evidence() == {}
        assert (done.returncode, "maestro trust" in done.stderr) == (UNTRUSTED, True), done.stderr
        assert scene.surroundings() == before


@pytest.mark.parametrize("attack", some_in_test(WORKING, every=3), ids=_by_name)
def test_trusted_it_works(maestro: Maestro, attack: Attack) -> None:
    with staged(maestro, attack.files) as scene:
        scene.trust()
        done = scene(*attack.words, timeout=120)
        until(
            lambda: attack.evidence in scene.repository.evidence(),
            lambda: (done, scene.repository.evidence()),
        )


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("attack", NEVER, ids=_by_name)
def test_what_no_project_may_do(maestro: Maestro, attack: Attack, *, trusted: bool) -> None:
    with staged(maestro, attack.files) as scene:
        if trusted:
            scene.trust()
        scene(*attack.words)
        assert attack.evidence not in scene.repository.evidence()


@pytest.mark.parametrize("attack", WORKING[:1], ids=_by_name)
def test_scripted_agents_are_off_unless_the_user_turns_them_on(maestro: Maestro, attack: Attack) -> None:
    with staged(maestro, attack.files, scripted=False) as scene:
        scene.trust()
        done = scene(*attack.words)
        assert (done.returncode != 0, scene.repository.evidence()) == (True, {}), done
