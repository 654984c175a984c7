"""The constants of the two-layer note to the printed digits, and to 60 digits: every float is rounded up, by little."""

import decimal
import math
from decimal import Decimal

import pytest

from helpers_quantities import BAL, MILD_F, MILD_H, POS, TOK, TOK_L2BAL, TOK_PERIOD_2
from lengthwise.limit.quantities import complexity

SAME_LAYER_2 = {
    "radius": "2.6925824036",
    "diameter": "3.0805843601",
    "readout_gain": "2.5896213681",
    "amplification": "281951.75",
}
PRINTED = {
    "tok": (
        TOK,
        True,
        SAME_LAYER_2
        | {
            "margin": ".5",
            "first.spread": "1",
            "first.diameter": "0.8062257748",
            "first.share": "1",
            "mlp_gain": "2",
            "histogram_gain": "4.3830977467",
            "second.spread": "9.7495438452",
            "second.diameter": "1.5707959766",
            "second.key_gain": "5.4812133829",
            "second.query_gain": "1.4219197363",
            "sampling_gain": "69747.58",
            "histogram_sensitivity": "3200311.2",
            "offset_gain": "8.7661955",
            "limit_gain": "12801245",
            "complexity": "79789319",
        },
    ),
    "tok without the box": (
        TOK,
        False,
        {
            "first.spread": "1",
            "first.diameter": "0.8062257748",
            "radius": "3.4123514646",
            "diameter": "4.4408786744",
            "second.spread": "17.8116786712",
            "second.diameter": "2.2644127018",
            "complexity": "4.4151601e11",
        },
    ),
    "bal": (
        BAL,
        True,
        SAME_LAYER_2
        | {"margin": ".75", "first.share": ".5", "histogram_gain": "2.1915488734", "complexity": "47009682"},
    ),
    "pos": (POS, True, SAME_LAYER_2 | {"margin": ".5", "histogram_gain": "0", "complexity": "14230044"}),
    "tok+l2bal": (TOK_L2BAL, True, SAME_LAYER_2 | {"margin": ".5", "histogram_gain": "4.3830977467"}),
    "tok, period 2": (
        TOK_PERIOD_2,
        True,
        {"first.spread": "1.8825", "first.diameter": "1.0735455277", "second.spread": "14.79866875"},
    ),
    "mild f": (
        MILD_F,
        True,
        {
            "first.spread": ".1",
            "first.diameter": ".0806225775",
            "histogram_gain": ".0891017280",
            "radius": "1.0670820393",
            "diameter": "1.4786818454",
            "second.spread": ".1854619143",
            "second.diameter": ".0753982758",
            "second.key_gain": ".0604469343",
            "second.query_gain": ".0032761091",
            "readout_gain": ".2236067977",
            "amplification": "1.2215695168",
            "offset_gain": ".1782034559",
            "sampling_gain": ".0202951144",
            "histogram_sensitivity": ".0243382482",
            "limit_gain": ".0973529927",
            "complexity": "1.0116799832",
        },
    ),
    "mild h": (MILD_H, True, {"histogram_sensitivity": "0", "complexity": ".5131041210"}),
}


def read(constants, name):
    """A field, or a field of the only head of a layer."""
    where, _, field = name.rpartition(".")
    return float(getattr(getattr(constants, where)[0] if where else constants, field))


@pytest.mark.parametrize("name", PRINTED)
def test_printed_constants_to_the_printed_digits(name):
    model, box, printed = PRINTED[name]
    constants = complexity(model, box=box)
    for field, digits in printed.items():
        last = 10.0 ** Decimal(digits).as_tuple().exponent
        assert abs(read(constants, field) - float(digits)) <= 0.501 * last, field


def test_every_float_is_rounded_up_and_by_little():
    """Independent: 60 decimal digits, closed forms of the norms of 1 x 2 and 2 x 2 matrices, for tok without the box."""
    with decimal.localcontext() as context:
        context.prec = 60
        v = [[Decimal(float(x)) for x in row] for row in TOK.layers[0].heads[0].value]
        two, one = Decimal(2), Decimal(1)
        D = sum((row[0] - row[1]) ** 2 for row in v).sqrt()
        e = one.exp()
        d_0, reach = two.sqrt(), 1 + max(sum(row[c] ** 2 for row in v) for c in (0, 1)).sqrt()
        b1 = Decimal(float(TOK.layers[0].mlp.bias[0]))
        rho, diam = reach + (one / 2).sqrt() * (b1 + two.sqrt() * reach), 2 * (d_0 + D)

        def norm(a, b, c, d):
            s, det = a * a + b * b + c * c + d * d, a * d - b * c
            return ((s + (s * s - 4 * det * det).sqrt()) / 2).sqrt()

        W = norm(*map(Decimal, (1, "0.5", "-0.5", "0.25")))
        V = norm(*(Decimal(float(x)) for x in TOK.layers[1].heads[0].value.ravel()))
        B2 = sum(Decimal(float(x)) ** 2 for x in TOK.layers[1].mlp.outer.ravel()).sqrt()
        Lam = Decimal(5).sqrt() * (1 + B2 * (one / 2).sqrt())
        omega2, D2 = W * rho * diam, V * diam
        beta, kappa = V + D2 * W * rho, W * diam * D2 / 4
        L1, M1 = 2 * D * e, 4 * D * e
        G, Theta = Lam * D2 * omega2.exp(), 1 + kappa + 3 * beta * omega2.exp()
        L, J = Lam * L1 * Theta, 2 * Lam * M1 * Theta
        truth = {
            "first.spread": one,
            "first.diameter": D,
            "mlp_gain": two,
            "histogram_gain": L1,
            "offset_gain": M1,
            "radius": rho,
            "diameter": diam,
            "second.spread": omega2,
            "second.diameter": D2,
            "second.key_gain": beta,
            "second.query_gain": kappa,
            "readout_gain": Lam,
            "sampling_gain": G,
            "amplification": Theta,
            "histogram_sensitivity": L,
            "limit_gain": J,
            "complexity": 6 * (2 + two.sqrt()) * (G + L) + J,
        }
        constants = complexity(TOK, box=False)
        for name, exact in truth.items():
            found = Decimal(read(constants, name))
            assert exact <= found <= exact * (1 + Decimal("1e-12")), name
        assert constants.log2_complexity == pytest.approx(math.log2(constants.complexity), rel=1e-14)
