import { Component, type ReactNode } from "react";

/** Shows the error that its children throw. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error ? `caught: ${this.state.error.message}` : this.props.children;
  }
}
