/** The room: who draws, what they point at, and the records of the document. */

import { awareness } from "groupwire";
import { defineRoom, type TypedRoom } from "groupwire/schema";
import { map, shared } from "groupwire/shared";
import { z } from "zod";

/** A record as fields of one level (`fields.ts`). The editor's store checks the rest. */
const Record = z.looseObject({ id: z.string(), typeName: z.string() });

const definition = {
  presence: z.object({ name: z.string().max(40) }),
  channels: {
    /** The editor's record of a user: pointer, selection, view, and what is being typed. */
    user: { ...awareness({ maxRate: 25, loss: 0.05 }), schema: Record },
  },
  shared: shared({ records: map(Record) }, { previews: false }),
};
export const drawing = defineRoom(definition);
export type Drawing = TypedRoom<typeof definition>;
