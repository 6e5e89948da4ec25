#!/bin/sh
# The remote gate with curl: ask, wait, claim, run, report.
# COUNTERSIGN_URL is the server, COUNTERSIGN_TOKEN a token with the scope propose. Needs curl and jq.
set -eu
key=${1:-order-$$}

call() {
  curl --silent --show-error --fail-with-body --request "$1" "$COUNTERSIGN_URL$2" \
    --header "authorization: Bearer ${COUNTERSIGN_TOKEN:-}" --header "content-type: application/json" ${3:+--data "$3"}
}

call POST /v1/calls '{"key":"'"$key"'","app":"shop","tool":"refund","args":{"amount":40},"hint":"Refund 40 EUR?"}' | jq -r .message

# Answers when somebody has decided; after 60 seconds at the latest.
while [ "$(call GET "/v1/calls/$key?wait=60" | jq -r .status)" = pending ]; do :; done

# Fails if it was denied, or if somebody else has claimed it.
claim=$(call POST "/v1/calls/$key/claim" '{}')
amount=$(printf %s "$claim" | jq .claim.args.amount)
proof=$(printf %s "$claim" | jq -c '{token: .claim.token, attempt: .claim.attempt}')

echo "refunding $amount EUR" # Here is what must happen only once.

call POST "/v1/calls/$key/result" "$(printf %s "$proof" | jq -c --argjson amount "$amount" '. + {result: {refunded: $amount}}')" | jq -r .message
