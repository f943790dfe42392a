"use client";

import { useEffect } from "react";
import { connect, transaction } from "groupwire";
import { join } from "packed-join";

export default function Page() {
  useEffect(() => {
    const query = new URLSearchParams(location.search);
    const room = join({ connect, transaction }, query, (seen) => (window.seen = seen));
    return () => room.leave();
  }, []);
  return <p>Next.js</p>;
}
