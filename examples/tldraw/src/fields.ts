/**
 * Records as fields of one level, so that two people who change different properties of one shape
 * at once both keep their change: `{ x: 1, props: { w: 5 } }` is `{ "x": 1, "props.w": 5 }`.
 */

/** A record of a store: JSON with an id and the name of its type. */
export interface StoredRecord {
  readonly id: string;
  readonly typeName: string;
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(record: StoredRecord): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    const parts = isObject(value) ? Object.entries(value) : [];
    // An object without members is a field itself, or it would be lost.
    if (parts.length === 0) fields[name] = value;
    for (const [part, inner] of parts) fields[`${name}.${part}`] = inner;
  }
  return fields;
}

/** The record of these fields, as `fieldsOf` has made them. */
export function recordOf(fields: Fields): StoredRecord {
  const record: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(fields)) {
    const dot = path.indexOf(".");
    if (dot < 0) {
      // A part of this object may have come before it.
      if (!isObject(record[path])) record[path] = isObject(value) ? { ...value } : value;
      continue;
    }
    const [name, part] = [path.slice(0, dot), path.slice(dot + 1)];
    if (!isObject(record[name])) record[name] = {};
    (record[name] as Record<string, unknown>)[part] = value;
  }
  return record as unknown as StoredRecord;
}

/** The fields that differ, with undefined for fields that `to` lacks. */
export function difference(from: Fields, to: Fields): Fields {
  const changed: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(to)) {
    if (JSON.stringify(value) !== JSON.stringify(from[path])) changed[path] = value;
  }
  for (const path of Object.keys(from)) if (!(path in to)) changed[path] = undefined;
  return changed;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
