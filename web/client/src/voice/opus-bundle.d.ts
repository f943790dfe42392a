/** `libopus-wasm` in one file, which build.mjs writes. */
export {
  Application,
  createDecoder,
  createEncoder,
  loadLibopus,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
} from "libopus-wasm";
