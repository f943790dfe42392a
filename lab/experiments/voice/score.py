"""Scores a sound by wideband PESQ (ITU-T P.862.2): score.py SOURCE OUT WINDOW LEAST

SOURCE and OUT are files of 32-bit floats at 48 kHz. WINDOW is the length in seconds of what is
compared at once, LEAST the share of it that has to be speech. Prints the mean score as JSON.
"""

import json
import sys

import numpy as np
from pesq import pesq

RATE, WIDEBAND = 48_000, 16_000
WORST = 1.0
# The longest time from mouth to ear that is looked for, in seconds.
LATE = 0.6


def narrowed(sound: np.ndarray) -> np.ndarray:
    """The sound at 16 kHz: a low pass of 7.5 kHz, and each third sample."""
    taps = np.arange(-96, 97)
    window = np.hamming(len(taps))
    kernel = np.sinc(2 * 7500 / RATE * taps) * window
    return np.convolve(sound, kernel / kernel.sum(), mode="same")[:: RATE // WIDEBAND]


def main() -> None:
    source, out = (narrowed(np.fromfile(name, dtype=np.float32)) for name in sys.argv[1:3])
    window, least = float(sys.argv[3]), float(sys.argv[4])
    length = int(window * WIDEBAND)
    scores = []
    for start in range(0, len(source) - length, length):
        part = source[start : start + length]
        if np.mean(np.abs(part) > 0.005) < least:
            continue
        heard = out[start : start + length + int(LATE * WIDEBAND)]
        # PESQ has no score for silence.
        is_silent = np.max(np.abs(heard)) < 0.001
        scores.append(WORST if is_silent else pesq(WIDEBAND, part, heard, "wb"))
    print(json.dumps({"score": float(np.mean(scores)), "windows": len(scores)}))


main()
