"""Post a real batch of responses to a running goldcheck service and print the rewards.

python examples/post_batch.py [URL]          (default http://127.0.0.1:8000)
"""

import json
import sys
from pathlib import Path

import httpx

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
lines = Path(__file__).with_name("gsm8k_responses.jsonl").read_text(encoding="utf-8").splitlines()
items = [json.loads(line) for line in lines]

batch = {
    "defaults": {"verifier": "numeric", "meta": {"data_source": "gsm8k", "run": "example", "step": 0}},
    "items": [
        {"response": item["response"], "ground_truth": item["answer"], "meta": {"prompt_id": item["id"]}}
        for item in items
    ],
}
reply = httpx.post(f"{url}/v1/verify/batch", json=batch, timeout=60)
reply.raise_for_status()

for item, result in zip(items, reply.json()["results"], strict=True):
    if result["status"] == "unscorable":  # not the policy's fault: leave it out of the loss
        print(f"{item['id']}  reward none  {result['failure']['kind']}")
        continue
    reason, detail = result["verdict"]["reason"], result["verdict"]["detail"]
    print(f"{item['id']}  reward {result['reward']}  {reason:18} {detail.get('extracted')}")
