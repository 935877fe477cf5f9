"""What the tool `fetch` is made of: addresses, requests, and pages as text.

Each module knows one thing: `urls` what an address means, `guarding` which addresses are public,
`getting` how a page is got, `bodies` how its bytes become text, `tokens`, `hiding` and `readable`
how HTML becomes text for a reader. None knows the policy, and none asks anybody.
"""
