/** An element whose content is loaded when it comes into view. */

/** Loading begins when an element is this close to the window. */
const NEAR = "200px";

// A page that is rendered on a server has no elements, but imports this file.
const Base = typeof HTMLElement === "undefined" ? (class {} as typeof HTMLElement) : HTMLElement;

export abstract class Lazy extends Base {
  static readonly observedAttributes = ["kind", "example"];
  #stop: (() => void) | undefined;
  #observer: IntersectionObserver | undefined;
  /** Counts what was begun, so that content that comes too late is taken away. */
  #life = 0;

  /** Shows the content in the shadow root. Returns how to end it. */
  protected abstract load(): Promise<() => void>;

  connectedCallback(): void {
    if (!this.shadowRoot) this.attachShadow({ mode: "open" });
    this.style.display ||= "block";
    // Roughly the height of the content, so that the page does not jump.
    this.style.minHeight ||= "30rem";
    this.#observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && void this.#begin(),
      { rootMargin: NEAR },
    );
    this.#observer.observe(this);
  }

  disconnectedCallback(): void {
    this.#observer?.disconnect();
    this.#end();
  }

  attributeChangedCallback(_name: string, before: string | null): void {
    if (before === null || !this.isConnected) return;
    this.#end();
    void this.#begin();
  }

  async #begin(): Promise<void> {
    this.#observer?.disconnect();
    const life = (this.#life += 1);
    try {
      const stop = await this.load();
      if (life === this.#life) this.#stop = stop;
      else stop();
    } catch (error) {
      console.error(error);
      if (life === this.#life)
        this.#tell(`This demonstration could not be loaded. Reload the page to try again. (${error})`);
    }
  }

  #end(): void {
    this.#life += 1;
    this.#stop?.();
    this.#stop = undefined;
    this.shadowRoot?.replaceChildren();
  }

  #tell(text: string): void {
    const told = document.createElement("p");
    told.setAttribute("role", "alert");
    told.textContent = text;
    this.shadowRoot?.replaceChildren(told);
  }
}
