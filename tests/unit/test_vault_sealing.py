"""The vault's seals: bound to slot, version, key; every refusal says the mend."""

import base64
import hashlib

import pytest

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.vault.sealing import MasterKey, Sealed, Vault
from redshank_shared.vault.slots import checked_slot, checked_value

NONCE = bytes(range(12))
VALUE = "sk-canary-of-the-seal"


def key_text(byte: int) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


def vault(*texts: str) -> Vault:
    return Vault(lambda: "\n".join(texts))


def test_what_was_sealed_opens_for_its_slot_in_its_version_only() -> None:
    ours = vault(key_text(1))
    sealed = ours.seal("model.main", 3, VALUE, NONCE)
    assert ours.open("model.main", 3, sealed) == VALUE
    assert VALUE not in sealed.text
    assert VALUE.encode() not in base64.b64decode(sealed.text)
    for slot, version in (("model.other", 3), ("model.main", 4)):
        with pytest.raises(Misconfigured) as refused:
            ours.open(slot, version, sealed)
        assert refused.value.code == "secret_changed"
        assert f"redshank secrets set {slot}" in refused.value.detail


@pytest.mark.parametrize("place", [0, 5, 13, -1])
def test_a_changed_byte_is_noticed(place: int) -> None:
    ours = vault(key_text(1))
    sealed = ours.seal("model.main", 1, VALUE, NONCE)
    data = bytearray(base64.b64decode(sealed.text))
    data[place] ^= 1
    changed = Sealed(sealed.key_id, base64.b64encode(bytes(data)).decode())
    with pytest.raises(Misconfigured, match="changed outside Redshank"):
        ours.open("model.main", 1, changed)


def test_a_key_is_named_by_the_first_eight_digits_of_its_hash() -> None:
    key = MasterKey(bytes([7]) * 32)
    assert key.key_id == hashlib.sha256(bytes([7]) * 32).hexdigest()[:8]
    assert repr(key) == f"MasterKey({key.key_id})"


def test_old_keys_open_while_the_first_one_seals() -> None:
    before = vault(key_text(1)).seal("model.main", 1, VALUE, NONCE)
    both = vault(key_text(2), key_text(1))
    assert both.open("model.main", 1, before) == VALUE
    assert both.seal("model.main", 2, VALUE, NONCE).key_id == both.key_ids[0] != before.key_id


def test_a_wrong_key_is_refused_by_its_id_with_the_mend() -> None:
    sealed = vault(key_text(1)).seal("model.main", 1, VALUE, NONCE)
    other = vault(key_text(2))
    with pytest.raises(Misconfigured) as refused:
        other.open("model.main", 1, sealed)
    assert refused.value.field == "vault.key_file"
    for told in (sealed.key_id, other.key_ids[0], "add that key"):
        assert told in refused.value.detail


def test_a_key_that_was_added_is_in_use_without_a_restart() -> None:
    texts = [key_text(1)]
    ours = Vault(lambda: " ".join(texts))
    first = ours.seal("model.main", 1, VALUE, NONCE)
    texts.insert(0, key_text(2))
    second = ours.seal("model.main", 2, VALUE, NONCE)
    assert second.key_id != first.key_id
    assert ours.open("model.main", 1, first) == ours.open("model.main", 2, second) == VALUE


def test_without_a_key_nothing_is_sealed() -> None:
    with pytest.raises(Misconfigured) as refused:
        vault().seal("model.main", 1, VALUE, NONCE)
    assert refused.value.code == "vault_without_key"
    assert "openssl rand -base64 32" in refused.value.detail


@pytest.mark.parametrize("text", ["c2hvcnQ=", "canary!base64", "A" * 44 + "A"])
@pytest.mark.fault("F-12")
def test_a_malformed_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        _ = vault(text).key_ids
    assert "32 bytes in base64" in refused.value.detail
    assert all(word not in refused.value.detail for word in text.split())


@pytest.mark.parametrize(
    "name", ["model.main", "mcp.custom.acme.BEARER_TOKEN", "hook.audit", "channel.discord.a-b"]
)
def test_slots_of_the_known_namespaces_may_be_filled(name: str) -> None:
    assert checked_slot(name) == name


@pytest.mark.req("K-59")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("gateway.discord", "slot_namespace"),
        ("main.model", "slot_namespace"),
        ("vault.check", "slot_namespace"),
        ("model", "slot_name"),
        ("model.", "slot_name"),
        ("model..main", "slot_name"),
        ("model.ma in", "slot_name"),
        ("../model.main", "slot_name"),
        ("model." + "x" * 200, "slot_name"),
        ("", "slot_name"),
    ],
)
def test_a_slot_outside_its_namespace_is_refused(name: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_slot(name)
    assert (refused.value.code, refused.value.field) == (code, "slot")
    if code == "slot_namespace":
        for known in ("model.", "mcp.", "hook.", "channel."):
            assert known in refused.value.detail


@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    "value", ["", "short", "x" * 65537, "with\x00nul-canary", "half\ud800-canary"]
)
def test_a_value_that_cannot_be_kept_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_value(value)
    assert refused.value.field == "value"
    assert "canary" not in refused.value.detail
