"""The checker of annotations in tests: beartype, with int accepted where float is written, as type checkers do."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
