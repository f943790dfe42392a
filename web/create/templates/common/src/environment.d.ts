/// <reference types="vite/client" />

interface ImportMetaEnv {
  /** The address of the server. */
  readonly VITE_GROUPWIRE_URL?: string;
}
