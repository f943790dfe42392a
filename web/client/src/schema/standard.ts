/**
 * The interface that zod, valibot, arktype and others share: Standard Schema, version 1
 * (standardschema.dev).
 */

/** A schema of another library. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What an application sends by a schema. */
export type InputOf<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : unknown;

/** What an application receives by a schema. */
export type OutputOf<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : unknown;
