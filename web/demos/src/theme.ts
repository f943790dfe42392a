/** Light or dark, as the page around is. */

/**
 * Makes the colours of an element those of the page. They follow the property `color-scheme`, and
 * where the page does not set it, the class `dark` of the element `html`, as VitePress has it.
 * Returns how to stop.
 */
export function followTheme(element: HTMLElement): () => void {
  const root = document.documentElement;
  const follow = (): void => {
    const isSet = getComputedStyle(root).colorScheme !== "normal";
    element.style.colorScheme = isSet ? "" : root.classList.contains("dark") ? "dark" : "light";
  };
  const observer = new MutationObserver(follow);
  observer.observe(root, { attributes: true, attributeFilter: ["class", "style"] });
  follow();
  return () => observer.disconnect();
}
