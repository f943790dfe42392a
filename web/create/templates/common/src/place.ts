/** The room and the server of this page, and the own name and colour. */

export const url = import.meta.env.VITE_GROUPWIRE_URL ?? "http://127.0.0.1:8080";

/** The name of the room: what stands behind # in the address. */
export const name = decodeURIComponent(location.hash.slice(1)) || "demo";

const ANIMALS = ["Badger", "Crane", "Fox", "Heron", "Lynx", "Otter", "Seal", "Wren"];
const COLORS = ["#c2410c", "#a16207", "#15803d", "#0f766e", "#1d4ed8", "#7e22ce", "#be185d", "#b91c1c"];

/** Each window has a name of its own, which it keeps when it is loaded anew. */
export const me = {
  name: kept("name", () => `${oneOf(ANIMALS)} ${Math.floor(Math.random() * 90) + 10}`),
  color: kept("color", () => oneOf(COLORS)),
};

export function rename(name: string): void {
  sessionStorage.setItem("name", name);
}

function kept(key: string, make: () => string): string {
  const value = sessionStorage.getItem(key) ?? make();
  sessionStorage.setItem(key, value);
  return value;
}

function oneOf(values: readonly string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? "";
}
