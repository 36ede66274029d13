"""What masking costs: a mebibyte of output with fifty known secrets."""

import random
import time
from collections.abc import Callable

from redshank_shared.vault.redaction import Redactor
from tests.bench.figures import figure

# Measured: 0.15 s on one core; a machine that does other things too gets more.
MOST_SECONDS = 1.0


def test_a_mebibyte_of_output_is_masked_within_a_second(
    record_property: Callable[[str, object], None],
) -> None:
    chance = random.Random(11)
    secrets = [f"canary-{chance.randbytes(16).hex()}" for _ in range(50)]
    lines = (
        f"line {n}: def read(token): return key[{n}] # http://host/path?x={n}\n"
        for n in range(20_000)
    )
    text = "".join(lines)[: 1 << 20]
    redactor = Redactor(secrets)
    began = time.perf_counter()
    assert redactor.of_output(text) == text
    seconds = time.perf_counter() - began
    record_property("seconds for a MiB of output", round(seconds, 3))
    figure("a MiB of output masked", seconds, MOST_SECONDS, "s")
