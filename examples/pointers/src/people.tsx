/** The avatars: one's own, with a form for name and colour, and those of the others. */

import { useState, type ReactNode } from "react";
import { colored } from "./app";
import { initials, remember } from "./person";
import { COLORS, NAME_LENGTH, useOther, useOtherIds, usePresence } from "./room";

export function People() {
  const ids = useOtherIds();
  const [isEditing, setIsEditing] = useState(false);
  const [me] = usePresence();
  return (
    <div className="people">
      <button
        className="avatar own"
        style={colored(me?.color)}
        aria-expanded={isEditing}
        aria-label={`You are ${me?.name}. Change name and colour`}
        title="Change your name and colour"
        onClick={() => setIsEditing(!isEditing)}
      >
        {initials(me?.name ?? "")}
      </button>
      <ul aria-label="Others">
        {ids.map((id) => (
          <Other key={id} id={id} />
        ))}
      </ul>
      {isEditing && <Me close={() => setIsEditing(false)} />}
    </div>
  );
}

function Other({ id }: { readonly id: number }): ReactNode {
  const other = useOther(id, ({ presence, away }) => ({ ...presence, away }));
  if (!other) return null;
  const { name = "Somebody", color, away } = other;
  return (
    <li className="avatar" data-away={away} style={colored(color)} title={away ? `${name} (connection lost)` : name}>
      <span aria-hidden>{initials(name)}</span>
      <span className="hidden">{name}</span>
    </li>
  );
}

function Me({ close }: { readonly close: () => void }) {
  const [me, setMe] = usePresence();
  if (!me) return null;
  const change = (change: Partial<typeof me>): void => {
    const next = { ...me, ...change };
    remember(localStorage, next);
    setMe(next);
  };
  return (
    <form
      className="me"
      onSubmit={(event) => {
        event.preventDefault();
        close();
      }}
      onKeyDown={({ key }) => key === "Escape" && close()}
    >
      <label>
        Your name
        <input
          autoFocus
          required
          maxLength={NAME_LENGTH}
          defaultValue={me.name}
          onChange={({ target }) => target.value.trim() && change({ name: target.value.trim() })}
        />
      </label>
      <fieldset>
        <legend>Your colour</legend>
        {COLORS.map((color, at) => (
          <input
            key={color}
            type="radio"
            name="color"
            aria-label={`Colour ${at + 1}`}
            style={colored(color)}
            checked={me.color === color}
            onChange={() => change({ color })}
          />
        ))}
      </fieldset>
      <button>Done</button>
    </form>
  );
}
