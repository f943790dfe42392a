/** The list that all edit. */

import { useMutation, useShared, useUndo } from "groupwire-react";
import { useState } from "react";

export function Tasks() {
  const ids = useShared(({ tasks }) => tasks.ids);
  const { undo, redo, canUndo, canRedo } = useUndo();
  return (
    <>
      <NewTask />
      <ul className="tasks" aria-label="Tasks">
        {ids.map((id) => (
          <TaskItem key={id} id={id} />
        ))}
      </ul>
      <button disabled={!canUndo} onClick={undo}>
        Undo
      </button>{" "}
      <button disabled={!canRedo} onClick={redo}>
        Redo
      </button>
    </>
  );
}

function NewTask() {
  const [text, setText] = useState("");
  const add = useMutation(({ tasks }, text: string) => tasks.push({ text, done: false }), []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add(text);
        setText("");
      }}
    >
      <input
        aria-label="New task"
        placeholder="What is to be done?"
        maxLength={200}
        required
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button>Add</button>
    </form>
  );
}

// It renders only if this task has changed.
function TaskItem({ id }: { readonly id: string }) {
  const task = useShared(({ tasks }) => tasks.get(id));
  const change = useMutation(({ tasks }, done: boolean) => task && tasks.set(id, { ...task, done }), [id, task]);
  const remove = useMutation(({ tasks }) => tasks.delete(id), [id]);
  if (!task) return null;
  return (
    <li>
      <label>
        <input type="checkbox" checked={task.done} onChange={({ target }) => change(target.checked)} />
        <span>{task.text}</span>
      </label>
      <button aria-label={`Remove ${task.text}`} onClick={() => remove()}>
        ✕
      </button>
    </li>
  );
}
