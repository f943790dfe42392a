// What the network does in each scene. A path has a delay in ms and a loss, in each direction; its
// losses have the names of lab/sim.

/** Everybody's path until a scene begins: from application to application and back takes 50 ms. */
export const CALM = { delay: 12.5, loss: "rand0" };

/** The networks of the setup `handover` of the experiment contract, and what is between them. */
const [WIFI, MOBILE] = [
  { delay: 10, loss: "rand1" },
  { delay: 30, loss: "rand2" },
];
const NOTHING = { delay: 10, loss: "rand100" };

/** For how long nothing is carried while somebody goes to another network, in ms. */
const BETWEEN = 300;

/**
 * Everybody's `first` path, and `turns`: who has which path from a time on, and whether another
 * address with it.
 */
export const SCENES = {
  calm: {},
  "pb10@6": { first: { ...CALM, loss: "pb10@6" } },
  // The sender goes to the mobile network, the receiver does, and both return in the same order.
  moves: {
    first: WIFI,
    turns: (length) =>
      [0, 1, 0, 1].flatMap((who, n) => {
        const at = ((n + 0.5) * length) / 4;
        const to = n < 2 ? MOBILE : WIFI;
        return [
          { at, who, to: NOTHING, moves: false },
          { at: at + BETWEEN, who, to, moves: true },
        ];
      }),
  },
};
