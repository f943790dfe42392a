import { Board } from "../../Board";

/** The page of the room that the address names. */
export default async function Page({ params }: { readonly params: Promise<{ room: string }> }) {
  const { room } = await params;
  return <Board name={decodeURIComponent(room)} />;
}
