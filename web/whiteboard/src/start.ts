/** Loads the page that the address asks for: the board, or the comparison (`?compare`). */

if (new URLSearchParams(location.search).has("compare")) void import("./compare/main");
else void import("./main");

export {};
