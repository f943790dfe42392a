/** The state that all applications in this folder show. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PageProps {
  readonly people: readonly { readonly id: number; readonly name: string }[];
  readonly move: (point: Point) => void;
}

const idOf = (id: number): string => `cursor-${id}`;

/** Moves a cursor, without rendering. */
export function show(id: number, point: Point | null): void {
  const element = document.getElementById(idOf(id));
  if (!element) return;
  element.hidden = !point;
  if (point) element.style.translate = `${point.x}px ${point.y}px`;
}

export function Page({ people, move }: PageProps) {
  return (
    <main style={{ position: "fixed", inset: 0 }} onPointerMove={({ clientX: x, clientY: y }) => move({ x, y })}>
      <ul aria-label="People">
        {people.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      {people.map(({ id, name }) => (
        <div key={id} id={idOf(id)} hidden aria-hidden>
          {name}
        </div>
      ))}
    </main>
  );
}
