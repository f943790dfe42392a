"""Decodes the packets of gmc.json whose messages are text with numbers and strings."""

import json
import os
import unittest
from pathlib import Path

from gmc import Decoder

HERE = Path(__file__).resolve().parent
VECTORS = Path(os.environ.get("GROUPWIRE_VECTORS", HERE.parent / "vectors")) / "gmc.json"
SHORT = {"json", "chat", "decimals"}
LONG = {
    "scaled", "two senders", "singles", "long decimals", "small numbers", "steps", "identifiers", "random identifiers", "written oddly",
}  # fmt: skip
DECODED = {"three"} | SHORT | LONG


class Packets(unittest.TestCase):
    def test_packets_are_decoded(self):
        decoders, decoded = {}, 0
        for line in json.loads(VECTORS.read_text()):
            stream = line["stream"]
            if stream in DECODED:
                decoder = decoders.setdefault(stream, Decoder())
                message = decoder.decode(bytes.fromhex(line["packet"]))
                self.assertEqual(message.hex(), line["message"], stream)
                decoded += 1
        self.assertEqual(decoded, 3 + 24 * len(SHORT) + 84 * len(LONG))

    def test_the_example_of_the_document(self):
        """gmc.md, 17: the decisions of the second and the third packet."""
        lines = [line for line in json.loads(VECTORS.read_text()) if line["stream"] == "three"]
        decoder, traces = Decoder(), []
        for line in lines:
            traces.append([])
            decoder.decode(bytes.fromhex(line["packet"]), traces[-1])
        document = (HERE.parent / "gmc.md").read_text()
        for trace in traces[1:]:
            self.assertIn(" ".join(f"{p}:{bit}" for p, bit in trace), " ".join(document.split()))


if __name__ == "__main__":
    unittest.main()
