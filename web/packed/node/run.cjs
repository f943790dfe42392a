const { connect, transaction } = require("groupwire");

import("./join/index.js").then(({ join }) =>
  join({ connect, transaction }, new URLSearchParams(process.argv[2]), (seen) => console.log(JSON.stringify(seen))),
);
