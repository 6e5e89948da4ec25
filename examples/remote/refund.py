"""A program with one dangerous function. Run it twice, or kill it: the refund happens at most once.

    python3 refund.py order-17 40 bob
"""

import os
import sys

from countersign import Denied, Gate, OutcomeUnknown

gate = Gate(os.environ["COUNTERSIGN_URL"], token=os.environ.get("COUNTERSIGN_TOKEN"), app="shop")


@gate.gated(hint="Refund {amount} EUR to {customer}?", amendable=["amount"])
def refund(amount, customer):
    with open(os.environ.get("REFUNDS", "refunds.txt"), "a", encoding="utf-8") as refunds:
        refunds.write(f"{customer} {amount}\n")
    return {"refunded": amount}


if __name__ == "__main__":
    key, amount, customer = sys.argv[1:4]
    try:
        print(refund(key=key, amount=int(amount), customer=customer))
    except (Denied, OutcomeUnknown) as error:
        sys.exit(str(error))
