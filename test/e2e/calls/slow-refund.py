"""Refunds, and then takes a minute before it reports: to be killed in between."""

import os
import sys
import time

from countersign import Gate, OutcomeUnknown

gate = Gate(os.environ["COUNTERSIGN_URL"], token=os.environ["COUNTERSIGN_TOKEN"], app="shop", lease_seconds=5)


@gate.gated()
def refund(amount):
    with open(os.environ["REFUNDS"], "a", encoding="utf-8") as refunds:
        refunds.write(f"{amount}\n")
    time.sleep(60)


try:
    refund(key=sys.argv[1], amount=40)
except OutcomeUnknown as error:
    sys.exit(str(error))
