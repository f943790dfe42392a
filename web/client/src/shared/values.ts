/** Counters, and data with a reducer of the application: one value for each name. */

import { check, checkOptions } from "../arguments.js";
import { invalid } from "../errors.js";
import { checkJson } from "../json.js";
import { Checker } from "../schema/check.js";
import type { InputOf, StandardSchema } from "../schema/standard.js";
import type { Context, Definition, Shown } from "./context.js";
import { COUNTER, REDUCED } from "./tables.js";

/**
 * A whole number to which everybody adds. It is always between -2^53 and 2^53, where all whole
 * numbers are exact.
 */
export interface SharedCounter extends Shown<number> {
  /**
   * Adds a whole number, or subtracts it if it is negative. Has no effect if the sum would be
   * outside of the counter's range.
   */
  add(difference: number): void;
}

/** A value that a reducer makes of actions, in the room's order. */
export interface SharedReducer<Value, Action> extends Shown<Value> {
  dispatch(action: Action): void;
}

/** A counter of shared data, which begins at 0. */
export function counter(): Definition<SharedCounter> {
  return {
    open: (context, name) => {
      const value = (): number =>
        (context
          .tables()
          .table(COUNTER + name)
          .get("") as number | undefined) ?? 0;
      return {
        get value() {
          return value();
        },
        subscribe: (listener) => context.onChange(COUNTER + name, listener),
        add: (difference) => {
          if (!Number.isSafeInteger(difference))
            throw invalid("`difference` of `add`", "a whole number between -2^53 and 2^53", difference);
          context.perform([name, "+", difference]);
        },
      };
    },
  };
}

/** The options of {@link reducer}. */
export interface ReducerOptions<Value, Action, Schema> {
  /**
   * Actions of others that do not fit have no effect. The schema must be the same in all versions
   * of the application, like the reducer.
   */
  readonly schema?: Schema;
  /** Returns the action that undoes `action` on `value`. Default: actions cannot be undone. */
  readonly undo?: (action: Action, value: Value) => Action | undefined;
}

/**
 * Data with a reducer of the application. The value and the actions are JSON.
 *
 * @param initial - the value before the first action
 * @param reduce - returns the next value. It may depend only on the present value, the action, and
 *   the id of its author ({@link SharedControls.author}). All programs in a room must have the same
 *   one: give a changed reducer another name
 */
export function reducer<Value, Action, Schema extends StandardSchema<Action> = StandardSchema<Action>>(
  initial: Value,
  reduce: (value: Value, action: Action, author: string) => Value,
  options: ReducerOptions<Value, Action, Schema> = {},
): Definition<SharedReducer<Value, InputOf<Schema>>> {
  checkJson(initial, "`initial` of `reducer`");
  check(reduce, "function", "`reduce` of `reducer`");
  checkOptions(options, { schema: () => {}, undo: "function" }, "`reducer`");
  const { schema, undo } = options;
  return {
    reducer: {
      initial,
      reduce: (value, action, author) => reduce(value as Value, valid(schema, action) as Action, author),
      invert: undo as ((action: unknown, value: unknown) => unknown) | undefined,
    },
    open: (context, name) => opened(context, name, initial, schema),
  };
}

function opened<Value, Action>(
  context: Context,
  name: string,
  initial: Value,
  schema: StandardSchema | undefined,
): SharedReducer<Value, Action> {
  const checker = new Checker(name, schema, {});
  return {
    get value() {
      return (context
        .tables()
        .table(REDUCED + name)
        .get("") ?? initial) as Value;
    },
    subscribe: (listener) => context.onChange(REDUCED + name, listener),
    dispatch: (action) => {
      checker.write(action);
      context.perform([name, "a", action]);
    },
  };
}

/** What a schema makes of an action. Throws if it does not fit. */
function valid(schema: StandardSchema | undefined, action: unknown): unknown {
  const result = schema?.["~standard"].validate(action) ?? { value: action };
  if ("then" in result || result.issues) throw new TypeError("the action does not fit its schema");
  return result.value;
}
