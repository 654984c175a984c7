"""What the tasks compute, in a few lines each, straight from their definitions."""

import math

import numpy as np


def simple_task(omega, string):
    zeros, ones = list(string).count(0), list(string).count(1)
    return math.sin(omega * (zeros - ones) / (zeros + ones)) if zeros + ones else 0.0


def mod_p_task(period, residue, string):
    chosen = [token for i, token in enumerate(string, start=1) if i % period == residue]
    return sum(chosen) / len(chosen)


def kgram(symbols, order, string, backoff):
    """(matches + backoff * everything) / masses, over j > order whose predecessors equal the last tokens."""
    x, n = list(string), len(string)
    matches = [x[j] for j in range(order, n) if x[j - order : j] == x[n - order :]]
    law = np.bincount(matches, minlength=symbols) + backoff * np.bincount(x, minlength=symbols)
    return law / law.sum()
