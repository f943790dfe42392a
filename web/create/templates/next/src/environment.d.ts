declare namespace NodeJS {
  interface ProcessEnv {
    /** The address of the server. */
    readonly NEXT_PUBLIC_GROUPWIRE_URL?: string;
  }
}
