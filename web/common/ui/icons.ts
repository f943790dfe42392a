/** Icons on a grid of 24, with lines of 1.75 in the colour of the text. */

const PATHS = {
  select: '<path d="M6 4.2 L18.4 11 L12.9 12.8 L10.2 18.4 Z"/>',
  pen: '<path d="M4.5 19.5 L5.6 15.2 L15.9 4.9 a1.9 1.9 0 0 1 2.7 0 l.5 .5 a1.9 1.9 0 0 1 0 2.7 L8.8 18.4 Z"/><path d="M13.8 7 L17 10.2"/>',
  rectangle: '<rect x="4" y="5.5" width="16" height="13" rx="2.5"/>',
  ellipse: '<ellipse cx="12" cy="12" rx="8.2" ry="6.8"/>',
  text: '<path d="M5.5 7.5 V5.5 H18.5 V7.5 M12 5.5 V18.5 M9.5 18.5 H14.5"/>',
  eraser:
    '<path d="M8.6 19 L4.6 15 a1.8 1.8 0 0 1 0-2.5 L12.9 4.6 a1.8 1.8 0 0 1 2.5 0 l4 4 a1.8 1.8 0 0 1 0 2.5 L11.5 19 Z M8.8 8.6 L15.4 15.2 M8.6 19 H19.5"/>',
  undo: '<path d="M8.5 5 L4.5 9 L8.5 13 M4.8 9 H14 a5 5 0 0 1 0 10 H9.5"/>',
  redo: '<path d="M15.5 5 L19.5 9 L15.5 13 M19.2 9 H10 a5 5 0 0 0 0 10 H14.5"/>',
  trash:
    '<path d="M4.5 7 H19.5 M9.5 7 V5 a1 1 0 0 1 1-1 h3 a1 1 0 0 1 1 1 V7 M6.3 7 L7.2 18.6 a1.6 1.6 0 0 0 1.6 1.4 h6.4 a1.6 1.6 0 0 0 1.6-1.4 L17.7 7 M10.2 10.8 V16.2 M13.8 10.8 V16.2"/>',
  minus: '<path d="M6 12 H18"/>',
  plus: '<path d="M6 12 H18 M12 6 V18"/>',
  fit: '<path d="M4.5 9 V6 a1.5 1.5 0 0 1 1.5-1.5 H9 M15 4.5 h3 a1.5 1.5 0 0 1 1.5 1.5 V9 M19.5 15 v3 a1.5 1.5 0 0 1 -1.5 1.5 H15 M9 19.5 H6 a1.5 1.5 0 0 1 -1.5 -1.5 V15"/>',
  help: '<path d="M9.2 9 a2.9 2.9 0 1 1 4.5 2.6 c-1.1 .8 -1.7 1.3 -1.7 2.6"/><path d="M12 17.6 V17.7"/>',
  share:
    '<path d="M9.6 14.4 L14.4 9.6 M11.2 7.2 L13 5.4 a3.96 3.96 0 0 1 5.6 5.6 L16.8 12.8 M12.8 16.8 L11 18.6 a3.96 3.96 0 0 1 -5.6 -5.6 L7.2 11.2"/>',
  close: '<path d="M7 7 L17 17 M17 7 L7 17"/>',
  download: '<path d="M12 4.5 V14.5 M7.8 10.6 L12 14.8 L16.2 10.6 M5 19.2 H19"/>',
  talk: '<path d="M5 6.5 a1.5 1.5 0 0 1 1.5 -1.5 h11 a1.5 1.5 0 0 1 1.5 1.5 v7.5 a1.5 1.5 0 0 1 -1.5 1.5 H11 L7.5 19 V15.5 H6.5 a1.5 1.5 0 0 1 -1.5 -1.5 Z M8.8 10.2 V10.3 M12 10.2 V10.3 M15.2 10.2 V10.3"/>',
  chart: '<path d="M4.5 15.5 L9 10 L13 13.5 L19.5 6"/>',
  picture:
    '<rect x="4" y="5" width="16" height="14" rx="2.5"/><path d="M4.5 16.5 L9 11.5 L12.5 15 L15 12.5 L19.5 17"/><circle cx="15.2" cy="9" r="1.2"/>',
  renew:
    '<path d="M5.2 12.5 a6.9 6.9 0 0 1 12 -4.8 L19.2 9.8 M19.4 5.4 V10 H14.8 M18.8 11.5 a6.9 6.9 0 0 1 -12 4.8 L4.8 14.2 M4.6 18.6 V14 H9.2"/>',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): string {
  return `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${PATHS[name]}</svg>`;
}
