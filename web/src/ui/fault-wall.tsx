import { Component, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { Empty } from "./empty.tsx";

interface FaultWallProps {
  readonly children: ReactNode;
}

/** Where a part of the page cannot be drawn, this stands instead; nothing can be decided behind it. */
export class FaultWall extends Component<FaultWallProps, { readonly isBroken: boolean }> {
  override readonly state = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return (
      <main className="page">
        <Empty title="This page cannot be shown">
          <Button look="ink" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Empty>
      </main>
    );
  }
}
