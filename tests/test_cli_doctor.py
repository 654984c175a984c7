import pytest

from lengthwise.cli import doctor


@pytest.fixture
def fast(monkeypatch):
    """Without the two checks that compile with JAX; test_all_checks runs them."""
    monkeypatch.setattr(doctor, "_numpy_and_jax", lambda double: 0.0)


def test_all_checks(command):
    ended = command("doctor", "--json")
    found = ended.json
    assert (ended.code, found["healthy"]) == (0, True)
    assert len(found["checks"]) == 5
    assert all(0 <= check["difference"] <= check["allowed"] for check in found["checks"])
    assert {"python", "numpy", "jax", "lengthwise"} <= set(found["versions"])
    assert found["device"] == found["devices"][0]
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 2**20


def test_a_difference_is_found(command, fast, monkeypatch):
    """A wrong constant in one method must show: the rule of attention gets a slope that is off by 10^-9."""
    from lengthwise.limit import linear

    right = linear.power
    monkeypatch.setattr(linear, "power", lambda rule, exponents, bits: right(rule, exponents * (1 + 1e-9), bits))
    ended = command("doctor", "--json")
    assert ended.code == 1
    assert ended.json["healthy"] is False
    assert any(not check["holds"] for check in ended.json["checks"])


def test_what_cannot_run_is_reported(command, monkeypatch):
    def broken(double):
        raise RuntimeError("no such device")

    monkeypatch.setattr(doctor, "_numpy_and_jax", broken)
    ended = command("doctor", "--json")
    assert ended.code == 1
    assert ended.json["checks"][-1]["difference_reason"] == "RuntimeError: no such device"
    assert command("doctor").out.count("FAILS") == 2


def test_lines_for_people(command, fast):
    ended = command("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("ok ") == 5
