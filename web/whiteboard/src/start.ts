/** Which page this is: the board, or the live view of loss (`?compare`). Each loads only what is its own. */

if (new URLSearchParams(location.search).has("compare")) void import("./compare/main");
else void import("./main");

export {};
