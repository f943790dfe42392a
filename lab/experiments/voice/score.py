"""Scores a sound by wideband PESQ (ITU-T P.862.2): score.py SOURCE OUT WINDOW LEAST [lags]

SOURCE and OUT are files of 32-bit floats at 48 kHz. WINDOW is the length in seconds of what is
compared at once, LEAST the share of it that has to be speech. Prints the mean score as JSON, and
with `lags` the times from SOURCE to OUT of short parts of speech.
"""

import json
import sys

import numpy as np
from pesq import pesq

RATE, WIDEBAND = 48_000, 16_000
WORST = 1.0
# The longest time from mouth to ear that is looked for, in seconds.
LATE = 0.6
# Samples that are speech.
LOUD = 0.005
# Parts for lags: their length, how far apart they begin (s), and how alike both sounds must be.
PART, STEP, ALIKE = 0.4, 0.2, 0.5


def narrowed(sound: np.ndarray) -> np.ndarray:
    """The sound at 16 kHz: a low pass of 7.5 kHz, and each third sample."""
    taps = np.arange(-96, 97)
    window = np.hamming(len(taps))
    kernel = np.sinc(2 * 7500 / RATE * taps) * window
    return np.convolve(sound, kernel / kernel.sum(), mode="same")[:: RATE // WIDEBAND]


def scores_of(source: np.ndarray, out: np.ndarray, window: float, least: float) -> list[float]:
    """The score of each window in which enough is said."""
    length = int(window * WIDEBAND)
    scores = []
    for start in range(0, len(source) - length, length):
        part = source[start : start + length]
        if np.mean(np.abs(part) > LOUD) < least:
            continue
        heard = out[start : start + length + int(LATE * WIDEBAND)]
        # PESQ has no score for silence.
        is_silent = np.max(np.abs(heard)) < 0.001
        scores.append(WORST if is_silent else pesq(WIDEBAND, part, heard, "wb"))
    return scores


def lags_of(source: np.ndarray, out: np.ndarray) -> list[float]:
    """How many ms after it was said each part of speech is heard, where both are alike."""
    length, more = int(PART * WIDEBAND), int(LATE * WIDEBAND)
    lags = []
    for start in range(0, len(source) - length - more, int(STEP * WIDEBAND)):
        part = source[start : start + length]
        if np.mean(np.abs(part) > LOUD) < 0.5:
            continue
        heard = out[start : start + length + more]
        size = len(heard)
        spectrum = np.fft.rfft(heard) * np.conj(np.fft.rfft(part, size))
        products = np.fft.irfft(spectrum, size)[: size - length + 1]
        sums = np.concatenate(([0.0], np.cumsum(heard**2)))
        energy = sums[length:] - sums[:-length]
        likeness = products / np.sqrt(np.maximum(energy * np.sum(part**2), 1e-9))
        best = int(np.argmax(likeness))
        if likeness[best] > ALIKE:
            lags.append(1000 * best / WIDEBAND)
    return lags


def main() -> None:
    source, out = (narrowed(np.fromfile(name, dtype=np.float32)) for name in sys.argv[1:3])
    scores = scores_of(source, out, float(sys.argv[3]), float(sys.argv[4]))
    found = {"score": float(np.mean(scores)) if scores else None, "windows": len(scores)}
    if "lags" in sys.argv[5:]:
        found["lags"] = lags_of(source, out)
    print(json.dumps(found))


main()
