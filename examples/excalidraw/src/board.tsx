/** Excalidraw's component in a room. */

import {
  CaptureUpdateAction,
  Excalidraw,
  getVisibleSceneBounds,
  restoreElements,
  zoomToFitBounds,
} from "@excalidraw/excalidraw";
import "@excalidraw/excalidraw/index.css";
import type { ExcalidrawImperativeAPI, ExcalidrawProps } from "@excalidraw/excalidraw/types";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Editor } from "./excalidraw";
import { People } from "./people";
import type { Drawing, Person } from "./room";
import { SceneSync } from "./sync";

export interface BoardProps {
  readonly room: Drawing;
  readonly me: Person;
}

export function Board({ room, me }: BoardProps) {
  const [api, setApi] = useState<ExcalidrawImperativeAPI | null>(null);
  const isDark = useIsDark();
  const link = useRef<{ readonly sync: SceneSync; readonly people: People } | null>(null);

  useEffect(() => {
    if (!api) return;
    const editor = editorOf(api);
    const { sync, people } = (link.current = {
      sync: new SceneSync(room, editor),
      people: new People(room, editor, me),
    });
    people.viewed();
    // Excalidraw calls no property of this name, although its types have one.
    const unsubscribe = api.onUserFollow(({ action, userToFollow }) => {
      people.follow(action === "FOLLOW" ? Number(userToFollow.socketId) : undefined);
    });
    return () => {
      link.current = null;
      unsubscribe();
      sync.stop();
      people.stop();
    };
  }, [api, room, me]);

  const changed = useCallback(() => {
    link.current?.sync.changed();
    link.current?.people.viewed();
  }, []);
  const point = useCallback<NonNullable<ExcalidrawProps["onPointerUpdate"]>>(({ pointer: { x, y, tool }, button }) => {
    link.current?.people.point(x, y, button === "down", tool === "laser");
  }, []);

  return (
    <Excalidraw
      excalidrawAPI={(api) => {
        setApi(api);
        // The browser test reads this.
        Object.assign(window, { excalidraw: api });
      }}
      onChange={changed}
      onPointerUpdate={point}
      onScrollChange={changed}
      isCollaborating
      // The keys of the tools work wherever the focus is.
      autoFocus
      handleKeyboardGlobally
      theme={isDark ? "dark" : "light"}
      // Others would not get images: a message has 60,000 bytes.
      UIOptions={{ tools: { image: false } }}
      renderTopRightUI={() => <Status room={room} />}
    />
  );
}

function Status({ room: { room } }: { readonly room: Drawing }) {
  const { status, count, pending } = useSyncExternalStore(room.subscribe, () => room.state);
  const texts = {
    connecting: "Connecting…",
    connected: pending ? "Saving…" : count === 1 ? "Only you" : `${count} people`,
    reconnecting: "Offline",
    closed: "Disconnected",
  };
  return (
    <output className="status" data-status={status}>
      {texts[status]}
    </output>
  );
}

function useIsDark(): boolean {
  const [query] = useState(() => matchMedia("(prefers-color-scheme: dark)"));
  const subscribe = useCallback(
    (changed: () => void) => {
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => query.matches);
}

/**
 * The editor as the adapter uses it. Excalidraw's types have brands for what are texts and numbers
 * here.
 */
function editorOf(api: ExcalidrawImperativeAPI): Editor {
  return {
    getSceneElementsIncludingDeleted: () => api.getSceneElementsIncludingDeleted() as never,
    getAppState: () => api.getAppState(),
    updateScene: (change) => api.updateScene({ ...change, captureUpdate: CaptureUpdateAction.NEVER } as never),
    setToast: (toast) => api.setToast(toast),
    restore: (elements) => restoreElements(elements as never, null) as never,
    show: (bounds) => {
      const appState = api.getAppState();
      // A view that is shown already moves nothing, so that two who follow each other come to rest.
      if (getVisibleSceneBounds(appState).every((edge, at) => Math.abs(edge - bounds[at]!) < 1)) return;
      const fit = zoomToFitBounds({ appState, bounds: bounds as never, fitToViewport: true, viewportZoomFactor: 1 });
      const { scrollX, scrollY, zoom } = fit.appState;
      api.updateScene({ appState: { scrollX, scrollY, zoom } as never, captureUpdate: CaptureUpdateAction.NEVER });
    },
  };
}
