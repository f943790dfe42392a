/** Colours of the canvas. Those of controls are in styles/base.css. */

import { isDark } from "../../../common/view/theme";
import type { Color } from "../model/shapes";

const LIGHT: Readonly<Record<Color, string>> = {
  ink: "#23262d",
  red: "#d9434a",
  orange: "#e8842a",
  green: "#2c9a63",
  teal: "#1397a6",
  blue: "#3b6fe0",
  violet: "#7f5bd6",
  pink: "#d64f94",
};

const DARK: Readonly<Record<Color, string>> = {
  ink: "#e8e8e4",
  red: "#ff7b7f",
  orange: "#ffab5c",
  green: "#5fce95",
  teal: "#4fcad6",
  blue: "#7fa6ff",
  violet: "#b39bff",
  pink: "#ff8cc3",
};

export function paint(color: Color): string {
  return (isDark() ? DARK : LIGHT)[color];
}

export function accent(): string {
  return isDark() ? "#8fa8ff" : "#4060d8";
}
